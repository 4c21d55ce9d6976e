import { drawBatch } from './image.arrange';

test.each([
	[100, 'one place', { places: 1 }, 100 * 40 * 1.15],
	[60, 'two requests a minute', { requestsPerClockMinute: 2 }, 30 * 60 * 1.5],
])(
	'%i images all arrive where the gateway has %s',
	async (count, _limit, gateway, most) => {
		const { arrived, charged, seconds, refused } = await drawBatch(count, gateway);
		console.log({ seconds, refused });
		expect([arrived, charged]).toEqual([count, count]);
		expect(seconds).toBeLessThanOrEqual(most);
	},
	120_000,
);
