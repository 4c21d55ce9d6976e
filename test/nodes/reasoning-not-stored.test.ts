import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { DynamicTool } from '@langchain/core/tools';
import { reply } from './arrange';
import { THINKS, useChat } from './chat-model.arrange';

const harness = useChat();
const ROUNDS = 10;
const note = new DynamicTool({ name: 'note', description: 'Notes', func: async () => '' });
const call = (word: string, n: number) => `[[${word}:note {"input":"${n}"}]]`;
const ASKED = Array.from({ length: ROUNDS }, (_round, n) => call(n === 0 ? 'call' : 'then', n));

/** Talks as n8n's agent does: the model is supplied anew for each round, and little of it is kept. */
async function talk(store: object = {}) {
	const options = { ...(THINKS.options as object), ...store };
	const messages: BaseMessage[] = [new HumanMessage(ASKED.join(' '))];
	for (;;) {
		const { model } = await harness.supply({ options });
		const answer = await harness.drive(model.bindTools([note]).invoke(messages));
		if (!answer.tool_calls?.length) return answer.text;
		const { reasoning_content } = answer.additional_kwargs;
		const [kept, calls] = [{ reasoning_content }, answer.tool_calls];
		messages.push(
			new AIMessage({ content: '', tool_calls: calls, additional_kwargs: kept }),
			...calls.map(({ id }) => new ToolMessage({ content: 'ok', tool_call_id: id! })),
		);
	}
}

type Body = { include?: string[]; input: Array<Record<string, unknown>> };
const bodies = () => harness.bodies() as unknown as Body[];
const thoughts = ({ input }: Body) => input.filter(({ type }) => type === 'reasoning');

describe('On a gateway that stores nothing an agent', () => {
	beforeEach(() => void (harness.gateway.settings.storesNothing = true));

	test.each([
		['default options', {}],
		['Store off', { store: false }],
		['Store on', { store: true }],
	])('gets through ten rounds with %s, and takes its reasoning along', async (_name, store) => {
		expect(await talk(store)).toMatch(/^note says: ok\n/);
		const sent = bodies();
		const [first, ...others] = sent.map((body) => body.include);
		expect(first).toBeUndefined();
		expect(others).toEqual(Array(ROUNDS).fill(['reasoning.encrypted_content']));
		// The first reasoning came without its content.
		expect(sent.map((body) => thoughts(body).length)).toEqual([0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
		for (const thought of sent.flatMap(thoughts)) {
			expect(Object.keys(thought).sort()).toEqual(['encrypted_content', 'id', 'summary', 'type']);
		}
	});

	test('goes on without its reasoning if the gateway refuses to hand it out', async () => {
		harness.gateway.settings.intercept = ({ record: { body } }) =>
			(body as Body | undefined)?.include ? reply(400, { error: { message: 'What?' } }) : undefined;
		expect(await talk()).toMatch(/^note says: ok\n/);
		expect(bodies().filter(({ include }) => include !== undefined)).toHaveLength(1);
		expect(bodies()).toHaveLength(ROUNDS + 2);
		expect(bodies().flatMap(thoughts)).toEqual([]);
	});

	test('asks once only if the request fails for another reason', async () => {
		const { model } = await harness.supply(THINKS);
		const first = await harness.drive(model.invoke('Hi'));
		harness.gateway.settings.intercept = () => reply(502);
		const again = harness.drive(model.invoke([first, new HumanMessage('Go on')]));
		await expect(again).rejects.toThrow('HTTP 502');
		expect(bodies()).toHaveLength(2);
	});
});

test('a gateway that stores responses gets reasoning back by its ID, and is asked for no more', async () => {
	expect(await talk()).toMatch(/^note says: ok\n/);
	expect(bodies().flatMap(({ include = [] }) => include)).toEqual([]);
	expect(thoughts(bodies().at(-1)!)).toHaveLength(ROUNDS);
});
