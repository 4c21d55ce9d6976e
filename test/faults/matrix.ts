import { ANSWER_ROWS } from './answers';
import type { Row } from './expected';
import { NETWORK_ROWS } from './network';
import { STATUS_ROWS } from './statuses';

export const MATRIX: Row[] = [...STATUS_ROWS, ...NETWORK_ROWS, ...ANSWER_ROWS];
