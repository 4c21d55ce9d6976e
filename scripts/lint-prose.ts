import { check } from './prose/rules';
import { readTexts } from './prose/texts';

/** Checks every text that people read, and prints each one that breaks a rule of prose. */
const texts = readTexts();
const findings = texts.flatMap(check);
for (const { file, line, problem } of findings) console.log(`${file}:${line} ${problem}`);
console.log(`${texts.length} texts, ${findings.length} findings`);
if (findings.length > 0) process.exitCode = 1;
