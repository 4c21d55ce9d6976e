import { AgentExecutor, createToolCallingAgent } from '@langchain/classic/agents';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { DynamicTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { startChat, type ChatHarness } from './chat-model.arrange';

let harness: ChatHarness;
beforeEach(async () => {
	harness = await startChat();
});
afterEach(async () => await harness.close());

const calculator = new DynamicTool({
	name: 'calculator',
	description: 'Reckons',
	func: async (sum) => (sum === '6*7' ? '42' : '43'),
});
const weather = tool(async ({ city }) => `Rain in ${city}`, {
	name: 'weather',
	description: 'Says what the weather is',
	schema: z.object({ city: z.string() }),
});

/** An agent with a memory, whose answers are read as n8n's agent reads them: by their events. */
async function startAgent() {
	const { model, runs } = await harness.supply();
	const tools = [calculator, weather];
	const prompt = ChatPromptTemplate.fromMessages([
		['system', 'Be kind'],
		['placeholder', '{chat_history}'],
		['human', '{input}'],
		['placeholder', '{agent_scratchpad}'],
	]);
	const agent = createToolCallingAgent({ llm: model, tools, prompt });
	const executor = new AgentExecutor({ agent, tools });
	const history: BaseMessage[] = [];
	const say = async (input: string) => {
		const pieces: string[] = [];
		const events = executor.streamEvents({ input, chat_history: [...history] }, { version: 'v2' });
		for await (const { event, data } of events) {
			const { text } = (data.chunk ?? {}) as { text?: string };
			if (event === 'on_chat_model_stream' && text) pieces.push(text);
		}
		history.push(new HumanMessage(input), new AIMessage(pieces.join('')));
		return pieces;
	};
	return { say: async (input: string) => await harness.drive(say(input)), runs };
}

test('an agent talks for three turns, one with two calls at once, and remembers', async () => {
	const { say, runs } = await startAgent();
	const first = await say('Hello [[no-tools]]');
	expect(first.join('')).toBe('You said: Hello\nI keep to: Be kind');
	expect(first.length).toBeGreaterThan(3);

	const asked = 'And now? [[call:calculator {"input":"6*7"}]] [[call:weather {"city":"Bergen"}]]';
	const second = await say(asked);
	expect(second.join('')).toBe('calculator says: 42\nweather says: Rain in Bergen');

	const third = await say('Thank you [[no-tools]]');
	expect(third.join('')).toBe(
		'You said: Thank you\nBefore that you said: And now?\nI keep to: Be kind',
	);

	const bodies = harness.bodies();
	expect(bodies.map(({ stream }) => stream)).toEqual([true, true, true, true]);
	const last = bodies.at(-1)?.input as Array<Record<string, unknown>>;
	expect(last.map(({ role, content }) => [role, content])).toEqual([
		['system', 'Be kind'],
		['user', 'Hello [[no-tools]]'],
		['assistant', [{ type: 'output_text', text: first.join('') }]],
		['user', asked],
		['assistant', [{ type: 'output_text', text: second.join('') }]],
		['user', 'Thank you [[no-tools]]'],
	]);
	const called = bodies[2]?.input as Array<Record<string, unknown>>;
	expect(called.slice(-4).map(({ type, name, output }) => [type, name ?? output])).toEqual([
		['function_call', 'calculator'],
		['function_call', 'weather'],
		['function_call_output', '42'],
		['function_call_output', 'Rain in Bergen'],
	]);
	expect(runs()).toHaveLength(4);
	for (const { data } of runs()) {
		expect(data?.ai_languageModel?.[0]?.[0]?.json).toHaveProperty('tokenUsage');
	}
});

test('an agent goes on for several rounds of calls in one turn', async () => {
	const { say } = await startAgent();
	const answer = await say(
		'[[call:calculator {"input":"6*7"}]] [[then:calculator {"input":"42+1"}]] [[then:weather {"city":"Oslo"}]]',
	);
	expect(answer.join('')).toBe(
		'calculator says: 42\ncalculator says: 43\nweather says: Rain in Oslo',
	);
	expect(harness.posts()).toBe(4);
});

test('an agent whose model fails says what the model’s node says', async () => {
	const { say } = await startAgent();
	await expect(say('Hi [[status:502]]')).rejects.toMatchObject({
		message: expect.stringContaining('(HTTP 502, ') as string,
		description: expect.stringContaining('Request ID') as string,
	});
	expect(harness.posts()).toBe(1);
});
