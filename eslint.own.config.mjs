import eslint from '@eslint/js';
import sonarjs from 'eslint-plugin-sonarjs';
import tseslint from 'typescript-eslint';

/** What is no part of the package: n8n's rules do not hold for it. */
const TOOLS = '{gateway,bench,test,scripts}/**';

/** Our own rules, beside n8n's in `eslint.config.mjs`. */
export default tseslint.config(
	{ ignores: ['dist', 'node_modules', 'demo-output', 'coverage', '.stryker-tmp', 'reports'] },
	{ files: [TOOLS, '*.js'], ...eslint.configs.recommended },
	{
		files: [`${TOOLS}/*.ts`],
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
				Buffer: 'readonly',
			},
		},
	},
	{
		// What a reader can follow.
		files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
		languageOptions: { parser: tseslint.parser },
		// The comments are for n8n's rules.
		linterOptions: { reportUnusedDisableDirectives: 'off' },
		plugins: { sonarjs },
		rules: {
			'max-lines': ['error', 300],
			'max-params': ['error', 4],
			'sonarjs/cognitive-complexity': ['error', 10],
		},
	},
	{ files: ['test/**/*.ts'], rules: { 'max-lines': ['error', 400] } },
);
