import { drawBatch } from './image.arrange';

test.each([
	[100, 'one place', { places: 1 }, 100 * 40],
	[60, 'two requests a minute', { requestsPerClockMinute: 2 }, 30 * 60],
])(
	'%i images all arrive where the gateway has %s, in hardly more than the least time',
	async (count, _limit, gateway, least) => {
		const { arrived, charged, seconds } = await drawBatch(count, gateway);
		expect([arrived, charged]).toEqual([count, count]);
		expect(seconds).toBeLessThanOrEqual(least * 1.15);
	},
	120_000,
);
