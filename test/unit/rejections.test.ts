import { host, watchRejections } from '../support/rejections';

test('a rejection that nobody handles is seen, until the watch ends', async () => {
	// Jest would fail the test for it.
	const others = host.listeners('unhandledRejection');
	host.removeAllListeners('unhandledRejection');
	const watch = watchRejections();
	try {
		void Promise.reject(new Error('left alone'));
		void Promise.reject(new Error('handled')).catch(() => {});
		await new Promise<void>((resolve) => setImmediate(resolve));
	} finally {
		watch.stop();
		for (const other of others) host.on('unhandledRejection', other);
	}
	expect(watch.seen).toEqual([new Error('left alone')]);
	expect(host.listeners('unhandledRejection')).toEqual(others);
});
