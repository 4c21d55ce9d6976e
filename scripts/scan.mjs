// Checks the package as a user's host receives it. It packs the package, checks its files, and runs
// n8n's official verification. It loads each class with n8n-workflow as the only available module.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const run = promisify(execFile);
const project = fileURLToPath(new URL('..', import.meta.url));

const MAX_TARBALL_BYTES = 110_000;

/** Every file that may be in the tarball. */
const SHIPPED = [
	/^(package\.json|index\.js|README\.md|LICENSE|CHANGELOG\.md)$/,
	/^dist\/(bundle\.js|THIRD-PARTY-LICENSES\.md)$/,
	/^dist\/credentials\/\w+(\.credentials\.js|(\.dark)?\.svg)$/,
	/^dist\/nodes\/\w+\/\w+(\.node\.js|\.node\.json|(\.dark)?\.svg)$/,
	/^dist\/nodes\/\w+\/__schema__\/v\d+\.\d+\.\d+\/[\w/.-]+\.json$/,
];

/** Text that only makes sense on the machine that built the package. */
const LOCAL_PATH = /file:\/\/\/|\/(home|Users|root|tmp)\/|[A-Z]:\\\w/;

async function packAndUnpack(folder) {
	const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
		cwd: project,
	});
	const [{ filename }] = JSON.parse(stdout);
	const tarball = path.join(folder, filename);
	// As npm installs it: next to the host's modules, of which it may use n8n-workflow only.
	const modules = path.join(folder, 'host', 'node_modules');
	const unpacked = path.join(modules, 'n8n-nodes-model-access');
	await mkdir(unpacked, { recursive: true });
	await run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
	await symlink(path.join(project, 'node_modules', 'n8n-workflow'), `${modules}/n8n-workflow`);
	return { unpacked, tarballBytes: (await stat(tarball)).size };
}

async function filesIn(folder) {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
		.map((file) => file.replaceAll(path.sep, '/'))
		.sort();
}

async function checkContents({ unpacked, tarballBytes }, files, manifest) {
	const faults = [];
	if (tarballBytes > MAX_TARBALL_BYTES) {
		faults.push(`the tarball is ${kilobytes(tarballBytes)}, over ${kilobytes(MAX_TARBALL_BYTES)}`);
	}
	for (const file of files) {
		if (!SHIPPED.some((pattern) => pattern.test(file))) faults.push(`${file} is not to be shipped`);
		const text = await readFile(path.join(unpacked, file), 'utf8');
		const local = text.includes(project) || (file.startsWith('dist/') && LOCAL_PATH.test(text));
		if (local) faults.push(`${file} holds a path of the machine that built it`);
	}
	const dependencies = Object.keys(manifest.dependencies ?? {});
	if (dependencies.length > 0) faults.push(`it depends on ${dependencies.join(', ')}`);
	for (const file of [
		'README.md',
		'CHANGELOG.md',
		'LICENSE',
		manifest.main,
		...classFiles(manifest),
	]) {
		if (!files.includes(file)) faults.push(`${file} is missing`);
	}
	return faults;
}

/** The checks of n8n before it lists a package: the tarball and, by other rules, the source. */
async function checkVerification({ unpacked }) {
	const reports = [
		await analyzePackage(unpacked),
		await analyzePackage(project, SOURCE_FILE_PATTERNS),
	];
	return reports
		.filter(({ passed }) => !passed)
		.map(({ message, details }) => [message, details].filter(Boolean).join('\n'));
}

async function checkLoading({ unpacked }, manifest) {
	const faults = [];
	for (const file of classFiles(manifest)) {
		await loadAlone(unpacked, file, [className(file)], faults);
	}
	await loadAlone(unpacked, manifest.main, classFiles(manifest).map(className), faults);
	return faults;
}

/** Loads one file in a separate process and creates an instance of each expected class. */
async function loadAlone(unpacked, file, classNames, faults) {
	const script = `
		const exported = require(${JSON.stringify(path.join(unpacked, file))});
		for (const name of ${JSON.stringify(classNames)}) {
			const instance = new exported[name]();
			if (instance.constructor.name !== name) throw new Error(name + ' lost its name');
			if (!(instance.description ?? instance).name) throw new Error(name + ' has no name for n8n');
		}`;
	const env = { PATH: process.env.PATH };
	await run(process.execPath, ['-e', script], { cwd: unpacked, env }).catch((error) =>
		faults.push(`${file} does not load: ${error.stderr.trim()}`),
	);
}

function classFiles(manifest) {
	return [...manifest.n8n.nodes, ...manifest.n8n.credentials];
}

function className(file) {
	return path.basename(file).split('.')[0];
}

function kilobytes(bytes) {
	return `${(bytes / 1024).toFixed(1)} KB`;
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'scan-'));
try {
	const packed = await packAndUnpack(folder);
	const manifest = JSON.parse(await readFile(path.join(packed.unpacked, 'package.json'), 'utf8'));
	const files = await filesIn(packed.unpacked);
	const results = [
		['contents', await checkContents(packed, files, manifest)],
		["n8n's verification", await checkVerification(packed)],
		['loading', await checkLoading(packed, manifest)],
	];
	console.log(
		`${manifest.name} ${manifest.version}: ${files.length} files, ${kilobytes(packed.tarballBytes)}`,
	);
	for (const [check, faults] of results) {
		console.log(`  ${faults.length === 0 ? 'passed' : 'FAILED'}  ${check}`);
		for (const fault of faults) console.log(fault.replace(/^/gm, '          '));
	}
	if (results.some(([, faults]) => faults.length > 0)) process.exitCode = 1;
} finally {
	await rm(folder, { recursive: true, force: true });
}
