const { once } = require('node:events');
const { mkdir, readdir, readFile, rm, writeFile } = require('node:fs/promises');
const path = require('node:path');
const esbuild = require('esbuild');
const { dest, parallel, series, src, watch } = require('gulp');
const manifest = require('./package.json');

/** Where the licenses of what is bundled are kept, as those licenses ask. */
const LICENSES = 'dist/THIRD-PARTY-LICENSES.md';

/** All code of the package, and of those that it uses. */
const BUNDLE = 'dist/bundle.js';

/** Gives the stack trace of a published version its names back; it is not in the package. */
const SOURCE_MAP = 'reports/bundle.js.map';

/** What n8n provides at run time. Everything else that the nodes import is bundled. */
const PROVIDED_BY_N8N = ['n8n-workflow', '@n8n/ai-node-sdk', 'crypto'];

/** Files that n8n looks for beside the built ones: icons, search words and output previews. */
const COPIED = [
	'credentials/*.svg',
	'nodes/**/*.svg',
	'nodes/**/*.node.json',
	'nodes/**/__schema__/**/*.json',
];

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

/**
 * Bundles all nodes and credentials that the manifest's `n8n` key lists, with what they use, into
 * one file, so that nothing is shipped or loaded twice; the file of each takes its class from there.
 */
async function bundle() {
	const outputs = [...manifest.n8n.nodes, ...manifest.n8n.credentials];
	const sources = outputs.map((output) => output.replace(/^dist\//, './').replace(/\.js$/, ''));
	const { metafile, outputFiles } = await esbuild.build({
		absWorkingDir: __dirname,
		stdin: {
			contents: sources.map((source) => `export * from '${source}';`).join('\n'),
			resolveDir: __dirname,
			sourcefile: 'classes',
		},
		outfile: BUNDLE,
		bundle: true,
		platform: 'node',
		target: 'node20',
		format: 'cjs',
		external: PROVIDED_BY_N8N,
		// n8n has a log of its own; what a library would print is left out.
		drop: ['console'],
		charset: 'utf8',
		minify: true,
		lineLimit: 500,
		sourcemap: 'external',
		// Only `require` finds n8n's own modules from where community packages are installed.
		supported: { 'dynamic-import': false },
		// In the licenses' own file.
		legalComments: 'none',
		metafile: true,
		plugins: [onlyKindsOfZod3],
		logLevel: 'warning',
		write: false,
	});
	await Promise.all([
		...outputFiles.map(({ path: file, contents }) =>
			write(file.endsWith('.map') ? SOURCE_MAP : file, contents),
		),
		writeLicenses(metafile),
		...outputs.map(writeClassFile),
	]);
}

/** The kinds of zod 3's schemas are all that `zod-to-json-schema` needs of it, a tenth of the package. */
const onlyKindsOfZod3 = {
	name: 'only-kinds-of-zod-3',
	/** @param {esbuild.PluginBuild} build */
	setup({ onResolve, onLoad }) {
		onResolve({ filter: /^zod$/ }, ({ path }) => ({ path, namespace: 'kinds' }));
		onLoad({ filter: /^zod$/, namespace: 'kinds' }, () => {
			const { ZodFirstPartyTypeKind } = require('zod');
			const kinds = JSON.stringify(ZodFirstPartyTypeKind);
			return { contents: `export const ZodFirstPartyTypeKind = ${kinds};` };
		});
	},
};

/**
 * Gives a class the name back that the bundle has shortened.
 * @param {string} output where n8n looks for the class, by whose name it is called
 */
async function writeClassFile(output) {
	const name = path.basename(output).split('.')[0];
	const bundle = path.relative(path.dirname(output), BUNDLE).replaceAll(path.sep, '/');
	await write(output, `exports.${name} = class ${name} extends require('${bundle}').${name} {};\n`);
}

/** @param {esbuild.Metafile} metafile what esbuild put into the outputs */
async function writeLicenses(metafile) {
	const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
	const folders = inputs
		.filter(([, { bytesInOutput }]) => bytesInOutput > 0)
		.map(([file]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
		.filter((folder) => folder !== undefined);
	const sections = await Promise.all([...new Set(folders)].sort().map(licenseSection));
	const intro = `# Third-party licenses\n\nThe files beside this one contain code of these packages.\n`;
	await write(LICENSES, [intro, ...sections].join('\n'));
}

/** @param {string} folder of an installed package */
async function licenseSection(folder) {
	const about = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
	const file = (await readdir(folder)).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
	const text = file
		? await readFile(path.join(folder, file), 'utf8')
		: await declaredLicense(about);
	return `## ${about.name} ${about.version} (${about.license})\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`;
}

/** The text of the MIT license, for a package that declares it and ships no file with it. */
async function declaredLicense({ name, license, author }) {
	const holder = typeof author === 'string' ? author.replace(/ <.*/, '') : author?.name;
	if (license !== 'MIT' || !holder) {
		throw new Error(`${name} is bundled but has no license file to go with it`);
	}
	const ours = await readFile('LICENSE', 'utf8');
	return ours.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}

/**
 * @param {string} file
 * @param {string | Uint8Array} contents
 */
async function write(file, contents) {
	await mkdir(path.dirname(file), { recursive: true });
	await writeFile(file, contents);
}

function copy() {
	return src(COPIED, { base: '.', encoding: false }).pipe(dest('dist'));
}

/** Tells the process that started this one, if any, and waits until it has taken what it needs. */
async function announce() {
	if (!process.connected) return;
	process.send('built');
	await once(process, 'message');
}

/** Builds, and builds again after each change of a source. A failed build does not end it. */
function watchSources() {
	process.once('disconnect', () => process.exit());
	const sources = ['credentials/*.ts', 'nodes/**/*.ts', ...COPIED];
	watch(sources, { ignoreInitial: false }, series(exports.build, announce));
}

exports.clean = clean;
exports.bundle = bundle;
exports.copy = copy;
exports.build = series(clean, parallel(bundle, copy));
exports.watch = watchSources;
exports.default = exports.build;
