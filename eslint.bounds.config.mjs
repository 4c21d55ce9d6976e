import sonarjs from 'eslint-plugin-sonarjs';
import tseslint from 'typescript-eslint';

/** What our own code keeps to, beside n8n's rules in `eslint.config.mjs`. */
export default tseslint.config({
	files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	languageOptions: { parser: tseslint.parser },
	linterOptions: { reportUnusedDisableDirectives: 'off' },
	plugins: { sonarjs },
	rules: {
		'max-lines': ['error', 300],
		'max-params': ['error', 4],
		'sonarjs/cognitive-complexity': ['error', 10],
	},
});
