import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	{ ignores: ['dist', 'node_modules', 'demo-output', 'coverage'] },
	eslint.configs.recommended,
	{
		files: ['**/*.ts'],
		extends: [...tseslint.configs.recommendedTypeChecked],
		languageOptions: { parserOptions: { projectService: true } },
		rules: {
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/no-floating-promises': 'error',
			'@typescript-eslint/require-await': 'off',
		},
	},
	{
		files: ['**/*.js', '**/*.mjs'],
		languageOptions: {
			globals: {
				console: 'readonly',
				module: 'writable',
				exports: 'writable',
				process: 'readonly',
				require: 'readonly',
				__dirname: 'readonly',
				URL: 'readonly',
			},
		},
	},
);
