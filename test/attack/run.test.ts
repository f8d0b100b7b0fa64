import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attack, Context } from '../../scripts/attack/attack.ts'
import { mutate, oddityOf } from '../../scripts/attack/mutate.ts'
import { ATTACKS, attack, showFindings, showResults } from '../../scripts/attack/run.ts'
import { createRandom } from '../../scripts/lib/random.ts'

const numbers = async (options: { seed?: number; count?: number; attempt?: number }): Promise<number[][]> => {
  const seen: number[][] = []
  const run = async ({ tries, random }: Context) => {
    for (const attempt of tries(3)) seen.push([attempt, random(attempt).next()])
    return { tries: seen.length, findings: [], worstMs: 0 }
  }
  await attack({ name: 'numbers', is: '', run }, { seed: 1, seconds: 1, program: '', ...options })
  return seen
}

test('a try can be repeated alone, by its number and the seed', async () => {
  const all = await numbers({})
  assert.equal(all.length, 3)
  assert.deepEqual(await numbers({ attempt: 2 }), [all[2]])
  assert.deepEqual((await numbers({ count: 5 })).slice(0, 3), all)
  assert.notDeepEqual(await numbers({ seed: 2 }), all)
})

test('what is found is told by what it breaks, with the flags that repeat it', async () => {
  const finds: Attack = {
    name: 'finds',
    is: '',
    run: async () => ({
      tries: 9,
      worstMs: 1.5,
      findings: Array.from({ length: 7 }, (_, attempt) => ({ what: 'a 500', attempt, how: `body ${attempt}` })),
    }),
  }
  const result = await attack(finds, { seed: 1, seconds: 1, program: '' })
  const [first, second, ...more] = showFindings('finds', result.findings).split('\n')
  assert.deepEqual([first, second], ['finds: a 500 (7)', '  --only finds --try 0: body 0'])
  assert.equal(more.at(-1), '  … and 2 more')
  assert.match(
    showResults([result]),
    /^\| attack +\| tries +\| findings .*\n.*\n\| finds +\| 9 +\| 7 +\| 2 +\| 0 +\| 0 +\|$/,
  )
})

test('a fault of an attack itself is no finding', async () => {
  const run = () => Promise.reject(new Error('no such file'))
  await assert.rejects(attack({ name: 'breaks', is: '', run }, { seed: 1, seconds: 1, program: '' }), /no such file/)
})

test('mutations leave the original alone and change most of what they get', () => {
  const original = Object.freeze({ a: Object.freeze([1, Object.freeze({ b: 'text' })]), c: null })
  const text = JSON.stringify(original)
  const random = createRandom()
  random.seek(1, 2, 3, 4)
  const odd = oddityOf(['word'])
  let changed = 0
  for (let i = 0; i < 500; i++) if (JSON.stringify(mutate(original, random, odd).value) !== text) changed++
  assert.equal(JSON.stringify(original), text)
  assert.ok(changed > 300, `${changed} of 500`)
})

test('no two attacks have one name', () => {
  assert.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length)
})
