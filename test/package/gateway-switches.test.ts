import { isDeepStrictEqual } from 'node:util';
import { endNamed, TASK_ENDS, type TaskEndName } from '../../gateway/images/ends';
import { resolveOptions } from '../../gateway/options';
import { optionOf, realProfile, SWITCHES, type GatewaySwitches } from '../../gateway/switches';
import { gatewayHelp, readGatewayWishes } from '../../scripts/gateway-options';
import { plain, read, rows, section } from './pages';

const documented = rows(read('docs/gateway.md'));

test('docs/gateway.md and --help list every switch, and what the profile sets', () => {
	const profile = realProfile() as Record<string, boolean | number | string | undefined>;
	const listed = documented.filter((row) => row.Option !== undefined);
	expect(listed.map((row) => [plain(row.Option!), row['In `real`']])).toEqual(
		Object.entries(SWITCHES).map(([name, { value }]) => [
			[optionOf(name), value].join(' ').trim(),
			profile[name] === true ? 'on' : String(profile[name] ?? ''),
		]),
	);
	for (const [name, { text }] of Object.entries(SWITCHES)) {
		expect(gatewayHelp()).toMatch(new RegExp(`^${optionOf(name)} `, 'm'));
		expect(gatewayHelp()).toContain(text);
	}
});

test('docs/gateway.md lists every end of a task, its status and whether it is charged', () => {
	const listed = documented.filter((row) => row.End !== undefined);
	expect(listed.map((row) => [plain(row.End!), row['`http_status`'], row.Charged])).toEqual(
		(Object.keys(TASK_ENDS) as TaskEndName[]).map((name) => {
			const { failure, errorInResult, charged } = endNamed(name);
			const status = errorInResult ? 200 : failure?.httpStatus;
			return [name, `${status ?? 'none'}`, charged ? 'yes' : 'no'];
		}),
	);
});

/** The texts of a cell or a line that are set as code. */
const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

test('docs/gateway.md lists every key and every model', () => {
	const { keys, settings } = resolveOptions({});
	const listed = documented.filter((row) => row['The key'] !== undefined);
	expect(listed.flatMap((row) => codes(row.Name!)).sort()).toEqual(Object.keys(keys).sort());
	for (const row of listed) {
		const named = codes(row.Name!).map((name) => keys[name]?.key);
		expect(codes(row['The key']!)).toEqual([...new Set([named[0], named.at(-1)])]);
	}
	const text = section('docs/gateway.md', 'Models');
	const kinds = ['Text', 'Images', 'Both'].map((kind) =>
		codes(new RegExp(`^- \\*\\*${kind}:\\*\\* (.*)$`, 'm').exec(text)?.[1] ?? ''),
	);
	const models = Object.entries(settings.models);
	const own = [{ text: true }, { images: true }, { text: true, images: true }].map((can) =>
		models.flatMap(([name, model]) => (isDeepStrictEqual(model, can) ? name : [])),
	);
	expect(kinds).toEqual(own);
});

test.each<[string, GatewaySwitches]>([
	['--background-limits --places 2', { backgroundLimits: true, places: 2 }],
	['--task-end lost', { taskEnd: 'lost' }],
	['--link-death 410', { linkDeath: 410 }],
	['--status-words failed=No,processing=at', { statusWords: { failed: 'No', processing: 'at' } }],
	['--listed-patterns gpt-*,o-*', { listedPatterns: ['gpt-*', 'o-*'] }],
	['--retry-after soon', { retryAfter: 'soon' }],
	['--overload-529', { overload529: true }],
])('the command line %j sets %j', (line, switches) => {
	const wishes = readGatewayWishes(`${line} --profile real`.split(' '));
	expect(wishes).toMatchObject({ switches, profile: 'real' });
});

test.each([
	['--places', '--places needs a value'],
	['--places many', '--places needs a number'],
	['--link-death 500', '--link-death needs one of 403, 404, 410'],
	['--status-words done=A', '--status-words needs STATE=WORD, several separated by commas'],
	['--image-size 64', '--image-size needs a size such as 64x48'],
	['--profile ideal', 'Unknown profile "ideal"; see --help'],
	['--share 2', '--share needs a number from 0 to 1'],
])('the command line %j is refused: %s', (line, message) => {
	expect(() => readGatewayWishes(line.split(' '))).toThrow(message);
});
