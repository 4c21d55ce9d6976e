/** The browser's program: Debian's, or the one that the environment names. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
