import type { NamedFault } from './named';
import { rawReply } from './raw';
import { ClientGone, pause } from '../time';

const HOUR = 3_600_000;

/** What happens to a stream after its last piece. */
type StreamEnd = 'end' | 'cut' | 'stall';

/** A stream of a response with other events than the gateway's, or fewer. */
export function streamed(
	name: string,
	change: (events: string[]) => string[],
	end: StreamEnd = 'end',
): NamedFault {
	return {
		name,
		stage: 'after',
		make: ({ reply, res, gone }, { time }) => {
			if (!reply?.stream) return undefined;
			const write = async () => {
				const { body, headers } = await rawReply(reply);
				const events = body
					.toString()
					.split(/(?<=\n\n)/)
					.filter((event) => event !== '');
				res.writeHead(200, Object.fromEntries(headers));
				res.flushHeaders();
				for (const piece of change(events)) {
					if (gone.aborted) return;
					await new Promise<void>((resolve) => {
						res.once('close', resolve);
						res.write(piece, () => {
							res.off('close', resolve);
							resolve();
						});
					});
				}
				if (end === 'end') res.end();
				if (end === 'cut') res.destroy();
				while (end === 'stall') await pause(time, HOUR, gone);
			};
			return {
				kind: 'take',
				write: async () => {
					try {
						await write();
					} catch (error) {
						if (!(error instanceof ClientGone)) throw error;
					}
				},
			};
		},
	};
}

/** The first part of a stream: up to and with its second delta. */
function begun(events: string[]): string[] {
	const second = events.findIndex(
		(event, index) =>
			event.includes('output_text.delta') &&
			events.slice(0, index).some((earlier) => earlier.includes('output_text.delta')),
	);
	return events.slice(0, second + 1);
}

const event = (type: string, fields: object) =>
	`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const REASON = { type: 'server_error', code: 'gpu_on_fire', message: 'the model went away' };

/** The JSON document that stands in for a stream where the gateway streams nothing. */
const document: NamedFault = {
	name: 'JSON instead of a stream',
	stage: 'after',
	make: async ({ reply }) => {
		if (!reply?.stream) return undefined;
		const { body, status } = await rawReply(reply);
		const last = body.toString().match(/^data: \{.*"response\.completed".*$/m)?.[0] ?? 'data: {}';
		const { response } = JSON.parse(last.slice('data: '.length)) as { response?: unknown };
		return { kind: 'reply', status, body: response };
	},
};

/** Faults of a stream that had begun. */
export const STREAM_FAULTS: NamedFault[] = [
	streamed('a stream that stalls', begun, 'stall'),
	streamed('a stream that stalls before its first event', () => [], 'stall'),
	streamed('a stream that breaks', begun, 'cut'),
	streamed('a stream that ends early', begun),
	streamed('a stream without events', () => []),
	streamed('a stream of [DONE] alone', () => ['data: [DONE]\n\n']),
	streamed('a stream that ends in the middle of its last event', (events) => {
		const whole = events.filter((text) => !text.includes('[DONE]')).join('');
		return [whole.slice(0, -100)];
	}),
	streamed('a stream that says it failed', (events) => [
		...begun(events),
		event('response.failed', { response: { id: 'r', status: 'failed', error: REASON } }),
	]),
	streamed('a stream with an error event', (events) => [
		...begun(events),
		event('error', { code: REASON.code, message: REASON.message }),
	]),
	document,
	streamed('a stream with garbage between its events', (events) =>
		events.flatMap((text) => [text, ': comment\n', 'data: {"broken\n\n', '\u0000\u0001�\n\n']),
	),
	streamed('a stream that is sent twice', (events) => [...events, ...events]),
	streamed('a stream in pieces of one byte', (events) => [...events.join('')]),
	streamed('a stream with Windows line ends', (events) =>
		events.map((text) => text.replaceAll('\n', '\r\n')),
	),
];
