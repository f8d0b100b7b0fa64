import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAlertStore } from '../../src/alerts/alert-store.ts'
import type { WindowRows, WindowRule } from '../../src/alerts/windows.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { exactOf } from '../../src/query/exact.ts'
import { createEntries, type WindowEntry } from '../../src/windows/entries.ts'
import { measuresOf, type WindowSpec } from '../../src/windows/spec.ts'
import { createRuleWindow } from '../../src/windows/window.ts'
import { type Times, timesOf } from '../lib/table.ts'

export interface WindowsMeasured {
  rules: number
  keys: number
  matches: number
  /** Windows, verdicts and rows of a block in the store, in its transaction, in milliseconds. */
  store: Times
}

export const WINDOW_SPEC: WindowSpec = {
  by: ['args.to'],
  within: { blocks: 20 },
  conditions: [
    { aggregate: 'Sum', name: 'args.value', operator: 'Greater', value: '1e30' },
    { aggregate: 'Count', operator: 'Greater', value: '1000000' },
  ],
}

const FIRST = 1_000

/** A store with that many rules with windows, which takes what they find in blocks that follow each other. */
export const createWindowedStore = (rules: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-windows-'))
  const db = openForWriting(join(folder, 'network.sqlite'))
  const alerts = createAlertStore(db)
  const windows = Array.from(
    { length: rules },
    (_, i): WindowRule => ({
      ...{ rule: i + 1, revision: 1, start: FIRST, spec: WINDOW_SPEC, targetType: 'Event', confirmations: 0 },
      ...{ notifyPending: false, notifyResolved: false, limits: { keys: 100_000, rows: 1_000_000 } },
    }),
  )
  db.transaction(() => alerts.stored({ hits: [], windows }))()
  const matched = new Map(windows.map(({ rule, revision }) => [rule, revision]))
  const insertBlock = db.prepare(
    "INSERT INTO block (number, hash, time, hashes, ends, record) VALUES (?, ?, ?, x'', x'', x'')",
  )
  let number = FIRST
  return {
    /** Returns how long the windows took in the transaction of the block, in milliseconds. */
    put(found: WindowRows['rules']): number {
      const hash = Buffer.alloc(32, number)
      const own = { _id: 'block', _type: 'block' as const, source: '{}' }
      const shown = `0x${hash.toString('hex')}`
      const block: WindowRows = {
        ...{ number, time: number * 12, hash: shown, receivedAt: 0, own, sources: [own], matched, rules: found },
      }
      let ms = 0
      db.transaction(() => {
        insertBlock.run(number, hash, number * 12)
        const at = performance.now()
        alerts.stored({ hits: [], blocks: [block] })
        ms = performance.now() - at
      })()
      number++
      return ms
    },
    close() {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Blocks in which so many rules have so many matches together, each among its keys in turn. They share nothing. */
export const measureWindows = (
  { rules, keys, matches }: Pick<WindowsMeasured, 'rules' | 'keys' | 'matches'>,
  blocks: number,
): WindowsMeasured => {
  const target = createWindowedStore(rules)
  try {
    const each = matches / rules
    const store = Array.from({ length: blocks }, () => {
      const found = Array.from({ length: rules }, (_, i) => {
        const entries = createEntries<number>(measuresOf(WINDOW_SPEC), {
          id: match => `0x${match}`,
          values: match => [{ text: '', number: exactOf(BigInt(match) * 10n ** 18n), unsigned: true }],
        })
        for (let match = 0; match < each; match++)
          entries.add(`["${(match % keys).toString(16).padStart(40, '0')}"]`, match)
        const gathered = entries.finish()
        return { rule: i + 1, entries: gathered, lasts: gathered.map(() => 0) }
      })
      return target.put(found)
    })
    return { rules, keys, matches, store: timesOf(store) }
  } finally {
    target.close()
  }
}

/** Heap of windows of several rules with so many keys each, and their rows, in bytes. */
export const memoryOfWindows = (rules: number, keys: number): number => {
  const heap = (): number => {
    ;(globalThis as { gc?: () => void }).gc?.()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = heap()
  const windows = Array.from({ length: rules }, (_, rule) => {
    const window = createRuleWindow(WINDOW_SPEC, { keys, rows: keys })
    const entries = Array.from({ length: keys }, (_, i) => ({
      key: `["0x${(rule * keys + i).toString(16).padStart(40, '0')}"]`,
      ...{ count: 1, ids: [`0x${i.toString(16).padStart(64, '0')}_${i}`], parts: [[String(i), 0, 1, 0]] },
    }))
    // As it is read from the store.
    window.load({ number: 1, time: 1 }, JSON.parse(JSON.stringify(entries)) as WindowEntry[])
    return window
  })
  const used = heap() - before
  if (windows.some(({ size }) => size.keys !== keys)) throw new Error('a window has not all keys')
  return used
}
