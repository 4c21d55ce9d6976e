import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	// What drives a browser needs packages that come with n8n itself: `npm run test:e2e` lints it.
	{ ignores: ['dist', 'node_modules', 'demo-output', 'coverage', 'test/e2e/*.ts'] },
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
