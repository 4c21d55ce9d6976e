/** Pieces joined at once are joined cheaply, and take no more room than their text. */
const PIECES_AT_ONCE = 1024;

/** A text that grows by pieces. */
export class GrowingText {
	private joined = '';
	private pieces: string[] = [];

	add(piece: string) {
		this.pieces.push(piece);
		if (this.pieces.length >= PIECES_AT_ONCE) this.join();
	}

	/** The whole text, as the gateway says at its end; less than its pieces were is not the whole. */
	settle(text: string) {
		if (text.length < this.value.length) return;
		this.joined = text;
	}

	get value(): string {
		this.join();
		return this.joined;
	}

	private join() {
		this.joined += this.pieces.join('');
		this.pieces = [];
	}
}
