import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureAlerts } from '../../scripts/bench/alerts.ts'
import { benchRules, main, rowsOfRules } from '../../scripts/bench/rules.ts'
import type { ChainsieveError } from '../../src/lib/errors.ts'
import { TESTED_PROGRAM } from '../support/tested-program.ts'

test('the benchmark of rules measures each number of them, and the hot key', () => {
  const results = benchRules({ rules: [10, 3_000], blocks: 4, seed: 3 })
  assert.deepEqual(
    [...results.mixed, results.hot, results.either].map(({ rules }) => rules),
    [10, 3_000, 3_000, 600],
  )
  for (const { entities, block } of [...results.mixed, results.hot, results.either]) {
    assert.equal(block.runs, 4)
    assert.ok(entities > 1_000)
  }
  assert.ok(results.mixed[1]!.hits > 0, 'rules that find nothing show nothing')
  assert.deepEqual(
    rowsOfRules(results).map(({ name }) => name),
    [
      ...[
        '10 rules of all shapes',
        '3,000 rules of all shapes',
        '3,000 amounts of one token',
        '600 alternatives with exceptions',
      ].flatMap(name =>
        ['a block', 'an entity', 'hits', 'reading and indexing', 'memory', 'changing one'].map(
          what => `${name}: ${what}`,
        ),
      ),
      ...['a block', 'stored'].map(what => `700 rules with windows: ${what}`),
    ],
  )
})

test('the benchmark of rules refuses what is no number', async () => {
  for (const args of [
    ['--rules', '10,x'],
    ['--blocks', '0'],
    ['--seed', '1.5'],
  ])
    await assert.rejects(main(args), (error: ChainsieveError) => error.next === 'refuse', args.join(' '))
  assert.match(await main(['--help']), /npm run bench:rules/)
})

test('from blocks to webhooks is measured with a real server', async () => {
  const { latency, rules, delivered, perSecond } = await measureAlerts({
    program: TESTED_PROGRAM,
    seed: 1,
    quiet: 5,
    blocks: 2,
    flood: 1,
  })
  assert.deepEqual([latency.runs, rules, delivered > 200, perSecond > 0], [10, 10, true, true])
})
