import fc from '../../support/fast-check';
import {
	pollStep,
	type Observation,
	type PollState,
	type PollStep,
} from '../../../nodes/shared/client/image-task';
import type { ImageTask } from '../../../nodes/shared/client/schemas';
import { START } from './arrange';

const STATE: PollState = { taskId: 't', unnamedWaits: 0 };
const SETTINGS = { pollIntervalMs: 3000, deadline: START + 900_000 };

function seen(
	task: Partial<ImageTask> = {},
	{ now = START, gatewayNow = now, retryAfter }: Partial<Observation> = {},
): Observation {
	const whole = { task_id: 't', status: 'processing', ...task };
	return { task: whole, json: whole, now, gatewayNow, retryAfter };
}

/** The wait that follows on a step; an error where none does. */
function waitOf(step: PollStep): { waitMs: number; state: PollState } {
	if (step.next !== 'wait') throw new Error(`no wait but ${step.next}`);
	return step;
}

describe('a task that has ended is not waited for', () => {
	test.each(['completed', 'failed'] as const)('%s', (status) => {
		for (const deadline of [START - 1, START + 900_000]) {
			const step = pollStep(STATE, seen({ status }, { retryAfter: 60 }), { ...SETTINGS, deadline });
			expect(step).toEqual({ next: status });
		}
	});
});

describe('any other status means: keep waiting', () => {
	test.each(['processing', 'queued', 'in_progress', 'COMPLETED', 'cancelled', 'x'])(
		'%s',
		(status) => {
			expect(pollStep(STATE, seen({ status }), SETTINGS)).toMatchObject({
				next: 'wait',
				waitMs: 3000,
			});
		},
	);
});

describe('the wait is the larger of Retry-After and the poll interval', () => {
	test.each([
		{ retryAfter: 3, pollInterval: 3, wait: 3 },
		{ retryAfter: 10, pollInterval: 3, wait: 10 },
		{ retryAfter: 3, pollInterval: 20, wait: 20 },
		{ retryAfter: 0, pollInterval: 3, wait: 3 },
		{ retryAfter: 1.5, pollInterval: 1, wait: 1.5 },
		{ retryAfter: 100, pollInterval: 1, wait: 100 },
		{ retryAfter: undefined, pollInterval: 1, wait: 3 },
		{ retryAfter: undefined, pollInterval: 20, wait: 20 },
	])(
		'Retry-After $retryAfter, interval $pollInterval: $wait s',
		({ retryAfter, pollInterval, wait }) => {
			const step = pollStep(STATE, seen({}, { retryAfter }), {
				...SETTINGS,
				pollIntervalMs: pollInterval * 1000,
			});
			expect(waitOf(step).waitMs).toBe(wait * 1000);
		},
	);
});

describe('where Retry-After stays absent', () => {
	function waits(named: Array<number | undefined>, pollIntervalMs = 3000): number[] {
		let state = STATE;
		return named.map((retryAfter) => {
			const step = waitOf(
				pollStep(state, seen({}, { retryAfter }), { ...SETTINGS, pollIntervalMs }),
			);
			state = step.state;
			return step.waitMs / 1000;
		});
	}
	const absent = undefined;

	test('the wait grows by half from 3 s to 15 s', () => {
		expect(waits(Array<undefined>(7).fill(absent))).toEqual([3, 4.5, 6.75, 10.125, 15, 15, 15]);
	});

	test('the interval is its floor, not its start', () => {
		expect(waits(Array<undefined>(6).fill(absent), 5000)).toEqual([5, 5, 6.75, 10.125, 15, 15]);
	});

	test('an interval above 15 s holds', () => {
		expect(waits([absent, absent, absent], 20_000)).toEqual([20, 20, 20]);
	});

	test('a Retry-After in between is obeyed and starts the growth anew', () => {
		expect(waits([absent, absent, 5, absent, absent, 0, absent])).toEqual([
			3, 4.5, 5, 3, 4.5, 3, 3,
		]);
	});
});

describe('no wait ends after the deadline', () => {
	test.each([
		['ends before it', 10_000, 'wait'],
		['ends at it', 3000, 'wait'],
		['would end a millisecond after', 2999, 'giveUp'],
		['begins at it', 0, 'giveUp'],
		['begins after it', -5000, 'giveUp'],
	])('a wait that %s', (_, left, next) => {
		const step = pollStep(STATE, seen(), { ...SETTINGS, deadline: START + left });
		expect(step).toMatchObject({ next, waitMs: 3000 });
		if (next === 'giveUp') expect(step).toMatchObject({ because: 'deadline' });
	});

	test('a Retry-After larger than what is left gives up at once', () => {
		expect(pollStep(STATE, seen({}, { retryAfter: 901 }), SETTINGS)).toEqual({
			next: 'giveUp',
			waitMs: 901_000,
			because: 'deadline',
		});
	});
});

describe('no wait ends after the task has expired', () => {
	const in10s = START / 1000 + 10;

	test.each([
		[10, 'wait'],
		[11, 'giveUp'],
	])('a wait of %i s for a task that expires in 10 s: %s', (retryAfter, next) => {
		const step = pollStep(STATE, seen({ expires_at: in10s }, { retryAfter }), SETTINGS);
		expect(step).toMatchObject({ next });
		if (next === 'giveUp') expect(step).toMatchObject({ because: 'expiry' });
	});

	test('the deadline is named where it comes first', () => {
		const step = pollStep(STATE, seen({ expires_at: in10s }, { retryAfter: 11 }), {
			...SETTINGS,
			deadline: START + 5000,
		});
		expect(step).toMatchObject({ next: 'giveUp', because: 'deadline' });
	});

	test.each([
		['an hour late', -3_600_000],
		['an hour ahead', 3_600_000],
	])('a local clock that is %s does no harm: the gateway’s counts', (_, skew) => {
		const at = { now: START + skew, gatewayNow: START };
		const settings = { ...SETTINGS, deadline: START + skew + 900_000 };
		expect(
			pollStep(STATE, seen({ expires_at: in10s }, { ...at, retryAfter: 10 }), settings),
		).toMatchObject({ next: 'wait' });
		expect(
			pollStep(STATE, seen({ expires_at: in10s }, { ...at, retryAfter: 11 }), settings),
		).toMatchObject({ next: 'giveUp', because: 'expiry' });
	});
});

test('a step is pure: it changes nothing, and the state it gives survives JSON', () => {
	fc.assert(
		fc.property(
			fc.record({ taskId: fc.constant('t'), unnamedWaits: fc.nat(2000) }),
			fc.option(fc.nat(1000), { nil: undefined }),
			fc.option(fc.integer({ min: -100, max: 2000 }), { nil: undefined }),
			fc.record({ pollIntervalMs: fc.nat(60_000), deadline: fc.nat(900_000) }),
			(state, retryAfter, expiresIn, { pollIntervalMs, deadline }) => {
				const expires = expiresIn === undefined ? {} : { expires_at: START / 1000 + expiresIn };
				const settings = Object.freeze({ pollIntervalMs, deadline: START + deadline });
				const look = Object.freeze(seen(expires, { retryAfter }));
				const step = pollStep(Object.freeze(state), look, settings);

				expect(pollStep(state, look, settings)).toEqual(step);
				if (step.next !== 'wait' && step.next !== 'giveUp') throw new Error('not ended');
				expect(step.waitMs).toBeGreaterThanOrEqual(pollIntervalMs);
				expect(step.waitMs).toBeGreaterThanOrEqual((retryAfter ?? 3) * 1000);
				const end = START + step.waitMs;
				const latest = Math.min(settings.deadline, START + (expiresIn ?? Infinity) * 1000);
				expect(step.next).toBe(end > latest ? 'giveUp' : 'wait');
				if (step.next === 'wait') {
					expect(JSON.parse(JSON.stringify(step.state))).toEqual(step.state);
				}
			},
		),
	);
});
