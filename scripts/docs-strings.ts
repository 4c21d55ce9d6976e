import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTexts } from './prose/texts';

/** Writes all texts of the package for its users into one file, to be read in one go. */
const folder = join(__dirname, '..', 'reports');
const strings = readTexts().filter(({ kind }) => kind === 'string');
const files = [...new Set(strings.map(({ file }) => file))];
const sections = files.map((file) => {
	const lines = strings.filter((text) => text.file === file);
	return `## ${file}\n\n${lines.map(({ line, text }) => `${line}: ${text}`).join('\n')}\n`;
});
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'strings.md'), sections.join('\n'));
console.log(`reports/strings.md: ${strings.length} strings of ${files.length} files`);
