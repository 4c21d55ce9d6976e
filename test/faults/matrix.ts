import { ANSWER_ROWS } from './answers';
import type { Row } from './expected';
import { NETWORK_ROWS } from './network';
import { STATUS_ROWS } from './statuses';

/** Every fault, and what comes of it where it is tried. */
export const MATRIX: Row[] = [...STATUS_ROWS, ...NETWORK_ROWS, ...ANSWER_ROWS];
