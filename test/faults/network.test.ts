import { ANSWER_ROWS } from './answers';
import { NETWORK_ROWS } from './network';
import { runRows } from './run';

runRows([...NETWORK_ROWS, ...ANSWER_ROWS]);

test('prototype keys in answers change no object', () => {
	expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
