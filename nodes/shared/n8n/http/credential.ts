/** The credential type that all nodes of this package use. */
export const CREDENTIAL = 'modelAccessApi';
