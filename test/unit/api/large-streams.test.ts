import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { bytes, completed, delta, event, streaming } from './recorded-streams';

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
			yield bytes(silent + delta('0123456789'));
		}
		yield bytes(completed({ output: [] }));
	}
	const { response } = await streaming(stream()).run({ onText: () => {} });
	const text = expect.stringMatching(/^\d{120010}$/) as string;
	expect(response.output).toMatchObject([{ content: [{ text }] }]);
	// 10 MB went through in between, of which 0.1 MB are text.
	const [before = 0, after = 0] = marks;
	expect(after - before).toBeLessThan(3);
});
