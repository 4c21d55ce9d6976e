import { normalizeApiKey } from '../../../nodes/shared/api/credential/api-key';
import { parseTaskId } from '../../../nodes/shared/api/images/task-id';
import { refusalOf } from './arrange';

const BASE = 'https://gw.example/ai/v1';
const ID = 'imgtask_4f2';
const URL_OF_IT = `${BASE}/images/tasks/${ID}`;

/** What copying adds around an ID, a key or an address. */
const WRAPPED = (text: string) => [
	`"${text}"`,
	`'${text}'`,
	`\`${text}\``,
	`“${text}”`,
	`‘${text}’`,
	` "${text}"\n`,
	`" ${text} "`,
	`"\n${text}\r\n"`,
	`\r\n${text}\r\n`,
	`\t${text}\u00a0`,
];

test('what copying adds to a task’s ID, path or URL is taken off, as from a key', () => {
	for (const text of [ID, URL_OF_IT, `/v1/images/tasks/${ID}`, `${URL_OF_IT}/?x=1`]) {
		for (const pasted of WRAPPED(text)) {
			expect([pasted, parseTaskId(pasted, BASE)]).toEqual([pasted, ID]);
		}
	}
	for (const pasted of WRAPPED('sk-1')) expect(normalizeApiKey(pasted)).toBe('sk-1');
});

test('so are quotes that are part of the address’s last name', () => {
	expect(parseTaskId(`${BASE}/images/tasks/%22${ID}%22`, BASE)).toBe(ID);
	expect(parseTaskId(`/v1/images/tasks/%27${ID}%27`, BASE)).toBe(ID);
});

describe('what is pasted into the middle is refused by its name, as in a key', () => {
	test.each<[string, string[]]>([
		['is empty', ['""', "' '", '"\n"', '“”']],
		['contains a space', [`Task ID: ${ID}`, `${ID} ${ID}`, `${ID}\t2`, `${ID}\u200b2`]],
		[
			'contains a line break or another control character',
			[`${ID}\n${ID}`, `img\r\ntask`, `${BASE}/images\n/tasks/${ID}`, `a\u0000b`],
		],
		['contains a quote', [`"${ID}`, `${ID}'`, `"'${ID}'"`, `"${ID}", "${ID}"`.replace(' ', '')]],
		['is no task ID', [`${BASE}/images/tasks/%22%22`, '"."', "'..'"]],
		['is longer than 4096 characters', ['x'.repeat(4097), `"${'x'.repeat(400_000)}"`]],
	])('%s', (problem, values) => {
		for (const pasted of values) {
			const { message, details } = refusalOf(() => parseTaskId(pasted, BASE));
			expect([pasted.slice(0, 80), message]).toEqual([pasted.slice(0, 80), `Task ID ${problem}`]);
			expect(details.advice).toContain('task_id that Image → Generate returned');
		}
	});
});
