import { ESLint } from 'eslint';
import ts from 'typescript';

/**
 * `npm run types` and `npm run lint:own` in one. Both need the types of the same files, which takes
 * the compiler most of the time.
 */
async function main() {
	const read = ts.getParsedCommandLineOfConfigFile('tsconfig.json', undefined, {
		...ts.sys,
		onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
			throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
		},
	})!;
	const program = ts.createProgram(read.fileNames, read.options);
	const diagnostics = [...read.errors, ...ts.getPreEmitDiagnostics(program)];
	const host: ts.FormatDiagnosticsHost = {
		getCanonicalFileName: (name) => name,
		getCurrentDirectory: () => process.cwd(),
		getNewLine: () => '\n',
	};
	process.stdout.write(ts.formatDiagnostics(diagnostics, host));

	const eslint = new ESLint({
		overrideConfigFile: 'eslint.own.config.mjs',
		overrideConfig: {
			files: ['{gateway,bench,test,scripts}/**/*.ts'],
			languageOptions: { parserOptions: { projectService: false, programs: [program] } },
		},
	});
	const results = await eslint.lintFiles(process.argv.slice(2));
	const formatter = await eslint.loadFormatter('stylish');
	process.stdout.write(await formatter.format(results));
	const findings = results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0);
	if (diagnostics.length > 0 || findings) process.exitCode = 1;
}

void main();
