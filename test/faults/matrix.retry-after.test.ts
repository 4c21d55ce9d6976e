import { RETRY_AFTER } from './matrix';
import { walkGroups } from './walk';

walkGroups((group) => group === RETRY_AFTER);
