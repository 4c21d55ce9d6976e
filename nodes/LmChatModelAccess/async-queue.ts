/** A queue that one side fills while the other side takes from it by `for await`, in order. */
export class AsyncQueue<T> implements AsyncIterable<T> {
	private readonly waiting: T[] = [];
	private ended = false;
	private wake = () => {};

	/** Adds a value at the end. */
	push(value: T) {
		this.waiting.push(value);
		this.wake();
	}

	/** Ends the iteration after the values that are still in the queue. */
	end() {
		this.ended = true;
		this.wake();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T> {
		for (;;) {
			yield* this.waiting.splice(0);
			if (this.waiting.length > 0) continue;
			if (this.ended) return;
			await new Promise<void>((resolve) => {
				this.wake = resolve;
			});
		}
	}
}
