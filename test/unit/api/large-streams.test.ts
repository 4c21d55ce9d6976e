import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { bytes, completed, delta, event, streaming } from './recorded-streams';

const DIGITS = '0123456789';

const textOf = ({ json }: { json: Record<string, unknown> }) =>
	(json.output as Array<{ content: Array<{ text: string }> }>)[0]?.content[0]?.text;

test('a stream takes no more memory than its text', async () => {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	const used = () => {
		collect();
		const { heapUsed, arrayBuffers } = process.memoryUsage();
		return (heapUsed + arrayBuffers) / 2 ** 20;
	};
	const marks: number[] = [];
	const silent = event('response.telemetry', { reading: 'x'.repeat(900) });
	function* stream() {
		for (let sent = 0; sent <= 12_000; sent++) {
			if (sent === 2_000 || sent === 12_000) marks.push(used());
			yield bytes(silent + delta(DIGITS));
		}
		yield bytes(completed({ output: [] }));
	}
	const { run } = streaming(stream());
	expect(textOf(await run(() => {}))).toHaveLength(120_010);
	// 10 MB went through in between, of which 0.1 MB are text.
	const [before = 0, after = 0] = marks;
	expect(after - before).toBeLessThan(3);
});
