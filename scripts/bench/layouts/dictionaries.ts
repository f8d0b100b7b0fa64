import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dictionaries, DOCUMENT_KINDS } from './chunks.ts'
import type { BlockRecords } from './records.ts'

const SIZE = 32_768

/** A dictionary for each kind, trained on some blocks by the zstd command; without it, records as they are serve. */
export const trainDictionaries = (
  records: readonly BlockRecords[],
): { dictionaries: Dictionaries; trained: boolean } => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-dictionaries-'))
  const dictionaries: Dictionaries = {}
  let trained = true
  const make = (name: keyof Dictionaries, samples: readonly Uint8Array[]) => {
    if (samples.length === 0) return
    const inside = join(folder, name)
    mkdirSync(inside)
    const joint = Math.ceil(samples.length / 2000)
    for (let i = 0; i < samples.length; i += joint)
      writeFileSync(join(inside, String(i)), Buffer.concat(samples.slice(i, i + joint)))
    const file = join(folder, `${name}.dictionary`)
    const run = spawnSync('zstd', ['-q', '--train', '-r', inside, `--maxdict=${SIZE}`, '-o', file])
    if (run.status !== 0) trained = false
    dictionaries[name] = run.status === 0 ? readFileSync(file) : Buffer.concat(samples).subarray(-SIZE)
  }
  for (const kind of DOCUMENT_KINDS)
    make(
      kind,
      records.flatMap(block => block[`${kind}s`]),
    )
  make(
    'mixed',
    records.flatMap(({ txs, logs, traces }) => [...txs, ...logs, ...traces]),
  )
  rmSync(folder, { recursive: true })
  return { dictionaries, trained }
}
