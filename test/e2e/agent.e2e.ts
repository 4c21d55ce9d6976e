import { imageBelongsTo } from '../../gateway';
import { CALLS, CHAIN, published, realGateway, ROUNDS } from './agent.workflows';
import { arrange, until } from './arrange';
import { openBrowser, browserTest, type Browser } from './browser';
import { Editor } from './browser-editor';
import { CREDENTIAL, exampleWorkflows, type WorkflowFile } from '../../scripts/n8n/n8n-server';
import { streamed, type Streamed } from '../../scripts/n8n/webhook';

const WEBHOOK = 'an-agent-to-chat-with';

const n8nServer = arrange(async () => {
	const found = (await exampleWorkflows()).find(({ id }) => id === 'chat-agent');
	if (!found) throw new Error('The example of an agent is gone');
	example = found;
	const workflows = [example, published(example, WEBHOOK), CHAIN];
	return { name: 'agent', gateway: { taskSeconds: 2, deltaMs: 40 }, workflows };
});
let browser: Browser;
let editor: Editor;
let example: WorkflowFile;

beforeAll(async () => {
	await n8nServer.start();
	await n8nServer.main.rest.activate(WEBHOOK);
	browser = await openBrowser(n8nServer.main, n8nServer.n8n.owner);
	editor = new Editor(browser);
}, 300_000);

/** Says something to a published agent, and reads its answer while it is written. */
async function say(sessionId: string, chatInput: string, path = WEBHOOK): Promise<Streamed> {
	const body = { action: 'sendMessage', sessionId, chatInput };
	const reply = await n8nServer.post(`${path}/chat`, body);
	expect(reply.status).toBe(200);
	const answer = await streamed(reply);
	expect(answer.events.filter(({ type }) => type === 'error')).toEqual([]);
	return answer;
}

type Text = string | Array<{ text?: string }>;
type Names = 'type' | 'role' | 'name' | 'arguments' | 'encrypted_content';
type InputItem = Partial<Record<Names, string>> & Record<'content' | 'output', Text>;
type Body = { instructions?: string; include?: string[]; input: InputItem[] };

const responses = () => n8nServer.gateway.requests.filter(({ route }) => route === 'responses');

/** What the gateway was sent since a request, as one line for each item of each request. */
const conversation = (since: number) =>
	responses()
		.slice(since)
		.map(({ body }) => (body as Body).input.map(line));

function line({ type, name, arguments: given, output, role, content }: InputItem): string {
	if (type === 'function_call') return `${name}(${given})`;
	return type === 'function_call_output' ? `-> ${plain(output)}` : `${role}: ${plain(content)}`;
}

const plain = (text: Text) =>
	typeof text === 'string' ? text : text.map((part) => part.text ?? '').join('');

/** A call of the calculator and its result, as the agent repeats them with the call's ID. */
const reckoning = (input: string, result: number): unknown[] => [
	expect.stringContaining(`Calculator({"input":"${input}"`),
	expect.stringMatching(new RegExp(`^-> .*${result}`)),
];

const asked = () => responses().length;

/** Opens the editor's chat, unless n8n has left it open from the workflow before. */
async function openChat(): Promise<void> {
	const button = editor.at('workflow-chat-button');
	await until('the chat is open', async () => {
		if (await editor.at('chat-input').isVisible()) return true;
		if (/open/i.test(await button.innerText())) await button.click();
		return false;
	});
}

/** Says something in the editor's chat, and waits for an answer like this. */
async function chat(text: string, answer: RegExp): Promise<string> {
	const input = editor.at('chat-input');
	const bubbles = editor.at('canvas-chat').locator('.chat-message-from-bot .chat-message-markdown');
	const before = await bubbles.count();
	await input.fill(text);
	// The chat takes nothing while the run before is not quite over.
	await until('the chat takes it', async () => {
		await input.press('Enter');
		return (await input.inputValue()).trim() === '';
	});
	return await until(`an answer to ${text}`, async () => {
		const all = await bubbles.allInnerTexts();
		const last = all.at(-1) ?? '';
		return all.length > before && answer.test(last) && last;
	});
}

const SUM =
	'How much is it? [[call:calculator {"input":"6*7"}]] [[then:calculator {"input":"42+1"}]]';

describe('an AI Agent that thinks with our chat model', () => {
	browserTest('chats in the editor: three turns, of which one reckons twice', async () => {
		const since = asked();
		await editor.open('chat-agent');
		await openChat();
		await chat('Hello [[no-tools]]', /^You said: Hello/);
		await chat(SUM, /Calculator says: .*42[^]*Calculator says: .*43/);
		await chat('Thank you [[no-tools]]', /You said: Thank you[^]*Before that you said: How much/);

		const [hello, sum, reckoned, done, thanks] = conversation(since);
		// The agent's system message goes out as instructions.
		expect(hello).toEqual(['user: Hello [[no-tools]]']);
		expect(responses()[since]?.body).toMatchObject({ instructions: expect.any(String) as string });
		expect(sum?.at(-1)).toBe(`user: ${SUM}`);
		expect(reckoned?.slice(-2)).toEqual(reckoning('6*7', 42));
		expect(done?.slice(-4)).toEqual([...reckoning('6*7', 42), ...reckoning('42+1', 43)]);
		const said = ['Hello [[no-tools]]', SUM, 'Thank you [[no-tools]]'];
		const saidByUser = thanks?.filter((text) => text.startsWith('user'));
		expect(saidByUser).toEqual(said.map((text) => `user: ${text}`));
		expect(asked() - since).toBe(5);
		const counted = editor.at('logs-overview').getByText(/\d+ Tokens/);
		await counted.first().waitFor();
	});

	browserTest('draws an image by the image node, and hands over its address', async () => {
		const wish = 'Please draw image: a lighthouse at dusk';
		const text = await chat(wish, /"image_url":"http[^"]+"/);
		const { tools } = responses().at(-1)!.body as {
			tools: Array<{ name: string; parameters: { properties: object; required?: string[] } }>;
		};
		const offered = tools.map(({ name, parameters }) => [
			name,
			...Object.keys(parameters.properties),
		]);
		expect(offered.map(String).sort()).toEqual(['Calculator,input', 'Draw_Image,prompt']);
		expect(tools.flatMap(({ parameters }) => parameters.required ?? [])).toEqual(['prompt']);
		expect(n8nServer.gateway.tasks).toHaveLength(1);
		const [address = ''] = /http:[^"\s]+/.exec(text) ?? [];
		const image = Buffer.from(await (await fetch(address)).arrayBuffer());
		expect(imageBelongsTo(wish, image)).toBe(true);
		for (const name of ['Draw Image', 'AI Agent']) {
			await editor.node(name).getByTestId('canvas-node-status-success').waitFor();
		}
		await browser.screenshot('chat-agent');
	});

	test('chats by its address: the words arrive while they are written', async () => {
		const since = asked();
		const counted = await say('one', 'Count [[words:40]] [[no-tools]]');
		expect(counted.text).toMatch(/^w1 w2 .* w40$/);
		// 40 words at 40 ms each.
		expect(counted.span).toBeGreaterThan(800);
		expect(counted.pieces).toBeGreaterThan(10);
		const calls = '[[call:calculator {"input":"1+1"}]] [[call:calculator {"input":"2+2"}]]';
		const twice = await say('one', `And both? ${calls}`);
		expect(twice.text).toMatch(/2[^]*4/);
		const [, , both] = conversation(since);
		// The agent answers each call behind it.
		expect(both?.slice(-4)).toEqual([...reckoning('1+1', 2), ...reckoning('2+2', 4)]);
		const other = await say('two', 'And you? [[no-tools]]');
		expect(other.text).not.toContain('Before that');
	});

	browserTest('shows a node that serves as a tool without options of files', async () => {
		await editor.open('chat-agent');
		await editor.openNode('Draw Image');
		const names = ['Tool Description', 'Description', 'Model', 'Prompt', 'Simplify', 'Advanced'];
		const shown = names.filter((name) => name !== 'Description');
		await editor.fieldsAre(shown, names);
		await browser.screenshot('image-tool');
		expect(await editor.offered(0)).not.toContain('File Name');
		expect(await editor.offered(1)).not.toContain('Download Images');
		await editor.closeNode();
	});
});

describe('an agent on a gateway that behaves as real ones do and stores nothing', () => {
	let real: Awaited<ReturnType<typeof realGateway>>;
	beforeAll(async () => {
		real = await realGateway(n8nServer.main.rest);
	});
	afterAll(async () => await real?.gateway.close());

	test.each([
		['with default options', {}, 0],
		['with a summary of its reasoning', { reasoningSummary: 'auto' }, ROUNDS - 1],
	])('comes through ten rounds %s, without tokens that it did not send', async (...row) => {
		const [name, options, thoughts] = row;
		const path = name.replaceAll(' ', '-');
		const since = real.gateway.requests.length;
		await real.publish(published(example, path, options));
		const { text } = await say('one', `Reckon ${CALLS}`, path);
		const results = Array.from({ length: ROUNDS }, (_round, n) => `\\b${n * 1000}\\b`);
		expect(text).toMatch(new RegExp(results.join('[^]*Calculator says: .*')));

		const rounds = real.gateway.requests.slice(since);
		expect(rounds).toHaveLength(ROUNDS + 1);
		const agent = example.nodes.find(({ name }) => name === 'AI Agent');
		const { systemMessage } = agent!.parameters.options as { systemMessage: string };
		for (const [n, { status, inputTokens, body }] of rounds.entries()) {
			const { input, instructions } = body as Body;
			// Each round sends back what all those before it brought.
			const outputs = input.filter(({ type }) => type === 'function_call_output');
			expect([status, instructions, outputs.length]).toEqual([200, systemMessage, n]);
			expect(inputTokens).toBeLessThan(1000);
		}
		// The first reasoning came without its content, which the others were asked for.
		const { input, include = [] } = rounds.at(-1)!.body as Body;
		const sealed = input.filter((item) => item.type === 'reasoning' && item.encrypted_content);
		expect(sealed).toHaveLength(thoughts);
		expect(include.includes('reasoning.encrypted_content')).toBe(thoughts > 0);
	});
});

describe('an agent whose key the gateway does not accept', () => {
	async function useKey(apiKey: string): Promise<void> {
		const data = { apiKey, baseUrl: n8nServer.gateway.baseUrl };
		const changed = { ...CREDENTIAL, type: 'modelAccessApi', data };
		await n8nServer.main.rest.call('PATCH', `/credentials/${CREDENTIAL.id}`, changed);
	}
	beforeAll(async () => await useKey('sk-not-a-key-of-this-gateway'));
	afterAll(async () => await useKey(n8nServer.gateway.keys.active));

	browserTest('says in the editor what is wrong and what to do, after one request', async () => {
		const before = asked();
		await editor.open('chat-agent');
		await openChat();
		await editor.at('chat-input').fill('Hello [[no-tools]]');
		await editor.at('chat-input').press('Enter');
		await editor.done();
		await editor.openNode('AI Agent');
		const { message, description } = await editor.errorShown();
		expect(message).toMatch(/^The gateway did not accept the API key \(HTTP 401, /);
		expect(description).toMatch(
			/^Fix the credential: the gateway does not know this API key\..* Request ID: \w+/,
		);
		expect(asked() - before).toBe(1);
		await editor.closeNode();
	});
});

browserTest('a Basic LLM Chain hands on what its output parser read', async () => {
	await editor.open('chain');
	await editor.execute();
	await editor.openNode('Basic LLM Chain');
	await editor.showOutput('json');
	await until('the output is shown', async () => {
		const text = await editor.output.innerText();
		return text.replace(/\s/g, '').includes('"mood":"happy"');
	});
});
