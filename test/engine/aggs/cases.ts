import { readFileSync } from 'node:fs'

export type Case = readonly [name: string, kinds: string, body: object]

/** Name, kinds, and the body without its size, a case in each line. */
export const CASES: readonly Case[] = readFileSync(new URL('cases.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line) as Case)
