import { existsSync } from 'node:fs'

/** The system's Chromium; `CHROMIUM` names another one. */
export const CHROMIUM = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(path => path !== undefined && existsSync(path))

/** For `describe` and `test`: why they cannot run here. */
export const skip =
  CHROMIUM === undefined ? 'there is no Chromium: install Debian’s package chromium, or name one in CHROMIUM' : false
