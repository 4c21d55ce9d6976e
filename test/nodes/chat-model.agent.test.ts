import { AgentExecutor, createToolCallingAgent } from '@langchain/classic/agents';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { DynamicTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { useChat } from './chat-model.arrange';

const harness = useChat();

const func = async (sum: string) => (sum === '6*7' ? '42' : '43');
const calculator = new DynamicTool({ name: 'calculator', description: 'Reckons', func });
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
	const chat_history: BaseMessage[] = [];
	const say = async (input: string) => {
		const pieces: string[] = [];
		const given = { input, chat_history: [...chat_history] };
		for await (const { event, data } of executor.streamEvents(given, { version: 'v2' })) {
			const { text } = (data.chunk ?? {}) as { text?: string };
			if (event === 'on_chat_model_stream' && text) pieces.push(text);
		}
		const text = pieces.join('');
		chat_history.push(new HumanMessage(input), new AIMessage(text));
		return { text, pieces: pieces.length };
	};
	return { say: async (input: string) => await harness.drive(say(input)), runs };
}

test('an agent talks for three turns, one with two calls at once, and remembers', async () => {
	const { say, runs } = await startAgent();
	const first = await say('Hello [[no-tools]]');
	expect(first.text).toBe('You said: Hello\nI keep to: Be kind');
	expect(first.pieces).toBeGreaterThan(3);
	const asked = 'And now? [[call:calculator {"input":"6*7"}]] [[call:weather {"city":"Bergen"}]]';
	const second = await say(asked);
	expect(second.text).toBe('calculator says: 42\nweather says: Rain in Bergen');
	const third = await say('Thank you [[no-tools]]');
	expect(third.text).toMatch(/^You said: Thank you\nBefore that you said: And now\?\n/);

	const bodies = harness.bodies();
	expect(bodies).toMatchObject(Array(4).fill({ stream: true }));
	const answered = (text: string) => [{ type: 'output_text', text }];
	expect(bodies.at(-1)?.instructions).toBe('Be kind');
	expect(bodies.at(-1)?.input).toMatchObject([
		{ role: 'user', content: 'Hello [[no-tools]]' },
		{ role: 'assistant', content: answered(first.text) },
		{ role: 'user', content: asked },
		{ role: 'assistant', content: answered(second.text) },
		{ role: 'user', content: 'Thank you [[no-tools]]' },
	]);
	expect((bodies[2]!.input as object[]).slice(-4)).toMatchObject([
		{ type: 'function_call', name: 'calculator' },
		{ type: 'function_call', name: 'weather' },
		{ type: 'function_call_output', output: '42' },
		{ type: 'function_call_output', output: 'Rain in Bergen' },
	]);
	expect(runs()).toHaveLength(4);
	for (const { data } of runs()) {
		expect(data?.ai_languageModel?.[0]?.[0]?.json).toHaveProperty('tokenUsage');
	}
});

test('an agent whose model fails says what the model’s node says', async () => {
	const { say } = await startAgent();
	const message = expect.stringContaining('(HTTP 502, ') as string;
	const description = expect.stringContaining('Request ID') as string;
	await expect(say('Hi [[status:502]]')).rejects.toMatchObject({ message, description });
	expect(harness.posts()).toBe(1);
});
