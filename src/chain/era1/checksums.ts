import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { refuse } from '../../lib/errors.ts'
import type { Window } from './window.ts'

const FILE = 'checksums.txt'
const PIECE = 1 << 20

/**
 * Compares a file with the `checksums.txt` beside it, where there is one: with the line that names it, or else with all
 * lines, since the list that `geth` writes has no names.
 */
export const checkSum = async (path: string, window: Window, signal?: AbortSignal): Promise<void> => {
  const list = join(dirname(path), FILE)
  const text = await readFile(list, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const sums = new Map<string, string>()
  const nameless = new Set<string>()
  for (const line of text.split('\n')) {
    const [, sum, name] = /^\s*(?:0x)?([0-9a-fA-F]{64})(?:\s+\*?(\S+))?\s*$/.exec(line) ?? []
    if (sum === undefined) continue
    if (name === undefined) nameless.add(sum.toLowerCase())
    else sums.set(basename(name), sum.toLowerCase())
  }
  const hash = createHash('sha256')
  for (let at = 0; at < window.size; at += PIECE) {
    signal?.throwIfAborted()
    hash.update(await window.bytes(at, Math.min(PIECE, window.size - at)))
  }
  const found = hash.digest('hex')
  const due = sums.get(basename(path))
  if (due === found || (due === undefined && nameless.has(found))) return
  const stated = due === undefined ? `does not have it` : `says ${due}`
  throw refuse('era1_checksum', `${path}: its SHA-256 is ${found}, but ${list} ${stated}. Download the file again`)
}
