import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { showChart, showSamples } from '../../scripts/soak/show.ts'
import { soak } from '../../scripts/soak/soak.ts'
import { TESTED_PROGRAM } from '../support/tested-program.ts'

test('some seconds of a soak: nothing is lost, doubled or missing', {
  skip: !existsSync('/proc/self/fd') && 'it reads /proc',
}, async () => {
  const { samples, findings, counts } = await soak({
    ...{ program: TESTED_PROGRAM, milliseconds: 20_000, blockMs: 500, keep: 70, seed: 3, kills: 2 },
    note: () => {},
  })
  assert.deepEqual(findings, [])
  assert.ok(counts.kills > 0 && counts.reorganisations > 0 && counts.backups > 0, JSON.stringify(counts))
  assert.ok(counts.documents > 10_000 && counts.alerts > 50 && counts.queries > 5, JSON.stringify(counts))
  assert.match(showSamples(samples), /\| memory, MB \|/)
  assert.match(showChart(samples), /memory, MB +[▁-█]+ \d+/)
})
