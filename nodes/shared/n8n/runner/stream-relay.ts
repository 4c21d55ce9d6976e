import type { IExecuteFunctions } from 'n8n-workflow';

type Chunk = { type: 'begin' | 'end' } | { type: 'item' | 'error'; content: string };

/**
 * Passes text on to the caller of a workflow that streams, item after item. The text of the first
 * unfinished item goes out at once. The text of later ones waits until those before are done.
 */
export class StreamRelay {
	private readonly kept = new Map<number, Chunk[]>();
	private readonly begun = new Set<number>();
	private readonly ended = new Set<number>();
	private speaking = 0;

	constructor(private readonly context: Pick<IExecuteFunctions, 'sendChunk'>) {}

	/** What opens an item's turn, and returns what passes its text on. */
	opener(index: number): () => (piece: string) => void {
		return () => {
			this.begun.add(index);
			this.say(index, { type: 'begin' });
			return (piece) => {
				if (piece !== '') this.say(index, { type: 'item', content: piece });
			};
		};
	}

	/**
	 * Ends an item's turn, or passes over it where it did not begin. Each item has to be ended.
	 * @param error what went wrong, if something did
	 */
	end(index: number, error?: string) {
		if (this.begun.delete(index)) {
			if (error !== undefined) this.say(index, { type: 'error', content: error });
			this.say(index, { type: 'end' });
		}
		this.ended.add(index);
		while (this.ended.delete(this.speaking)) {
			this.speaking++;
			this.flush();
		}
	}

	private say(index: number, chunk: Chunk) {
		if (index !== this.speaking) {
			const kept = this.kept.get(index);
			if (kept) kept.push(chunk);
			else this.kept.set(index, [chunk]);
			return;
		}
		const content = 'content' in chunk ? chunk.content : undefined;
		// A promise, in spite of its type. That the caller has left must not end the process.
		Promise.resolve(this.context.sendChunk(chunk.type, index, content)).catch(() => {});
	}

	private flush() {
		const chunks = this.kept.get(this.speaking) ?? [];
		this.kept.delete(this.speaking);
		for (const chunk of chunks) this.say(this.speaking, chunk);
	}
}
