import { drawImage, type FormRecord } from '../../gateway';
import { arrange, until } from './arrange';
import { exampleWorkflows } from '../../scripts/n8n/n8n-server';
import { served, streamed } from '../../scripts/n8n/webhook';
import { image, inARow } from '../../scripts/n8n/workflows';

const SCHEDULED = inARow('scheduled', [
	{
		name: 'Every Second',
		type: 'n8n-nodes-base.scheduleTrigger',
		typeVersion: 1.2,
		parameters: { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } },
		position: [0, 0],
	},
	image('Draw', 'a clock'),
]);

const n8nServer = arrange(async () => ({
	name: 'production',
	gateway: { taskSeconds: 3, deltaMs: 50 },
	workflows: [...(await exampleWorkflows()), SCHEDULED],
}));

beforeAll(async () => await n8nServer.start(), 300_000);

describe('an example that waits for the world', () => {
	test('streams an answer in pieces, as the model writes it', async () => {
		await n8nServer.main.rest.activate('stream-to-webhook');
		const reply = await n8nServer.post('ask', { question: 'Count, please. [[words:40]]' });
		expect(reply.status).toBe(200);
		const { events, text, span, pieces } = await streamed(reply);
		expect(text).toMatch(/^w1 w2 .* w40\{"model":"aurora-text-1","tokens":\d+\}$/);
		expect(events[0]?.type).toBe('begin');
		// 40 words at 50 ms each: the first byte is there long before the last.
		expect(span).toBeGreaterThan(1000);
		expect(pieces).toBeGreaterThan(20);
	});

	test('hands the edited image to whoever uploaded one by its form', async () => {
		await n8nServer.main.rest.activate('edit-uploaded-image');
		const form = (await exampleWorkflows()).find(({ id }) => id === 'edit-uploaded-image');
		const id = form?.nodes.find(({ type }) => type.endsWith('.formTrigger'))?.webhookId as string;
		const { address } = n8nServer.main;
		const page = await (await served(`${address}/form/${id}`)).text();
		expect(page).toContain('Change an image');
		const upload = new FormData();
		const boat = drawImage({ prompt: 'boat', index: 0, width: 40, height: 30 });
		upload.set('field-0', new Blob([boat], { type: 'image/png' }), 'boat.png');
		upload.set('field-1', 'Add a sail');
		const answer = await fetch(`${address}/form/${id}`, { method: 'POST', body: upload });
		expect(answer.status).toBe(200);
		const { formWaitingUrl } = (await answer.json()) as { formWaitingUrl: string };
		// As the form's page does: it asks until the workflow has come to its last page.
		const { pathname, search } = new URL(formWaitingUrl);
		await until('the form has a last page', async () => {
			const status = await fetch(`${address}${pathname}/n8n-execution-status${search}`);
			return (await status.text()).includes('form-waiting');
		});
		const last = await (await fetch(formWaitingUrl)).text();
		expect(last).toContain('Your image is done');
		const sent = n8nServer.gateway.requests.find(({ route }) => route === 'edits')
			?.body as FormRecord;
		expect(sent.fields).toMatchObject({ prompt: 'Add a sail' });
		expect(sent.files).toMatchObject([{ fileName: 'boat.png', size: boat.length }]);
		expect(last).toContain('edited.png');
	});
});

describe('a schedule', () => {
	test('runs an image node each time', async () => {
		await n8nServer.main.rest.activate('scheduled');
		const done = await until('two scheduled runs end', async () => {
			const ended = (await n8nServer.main.rest.executions('scheduled')).filter(
				({ status }) => status !== 'running' && status !== 'new',
			);
			return ended.length >= 2 && ended;
		});
		await n8nServer.main.rest.deactivate('scheduled');
		for (const { status, mode } of done) expect([status, mode]).toEqual(['success', 'trigger']);
		expect(n8nServer.gateway.tasks.some(({ request }) => request.prompt === 'a clock')).toBe(true);
	});
});
