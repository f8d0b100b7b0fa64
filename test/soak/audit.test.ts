import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditAlerts } from '../../scripts/soak/audit.ts'
import { differenceOf } from '../../scripts/soak/documents.ts'

const due = new Map([
  ['block', new Set(['a', 'b'])],
  ['deep', new Set(['a'])],
])
const early = new Set(['block'])

/** `rule id document type @time`; confirmed where no type is given. */
const audit = (lines: string[], kills: number[] = []) =>
  auditAlerts({
    ...{ due, early, kills },
    taken: lines.map(line => {
      const [rule, id, document, type = 'confirmed', at = '0'] = line.split(' ') as [string, string, string]
      return { rule, id, document, type: `alert.${type}`, at: Number(at) }
    }),
  })

const WHOLE = ['block 1 a', 'block 2 b', 'deep 3 a']

test('each alert once is right, with a retraction of what was lost', () => {
  assert.deepEqual(audit(WHOLE), { findings: [], repeated: 0 })
  assert.deepEqual(audit([...WHOLE, 'block 4 x', 'block 4 x retracted']), { findings: [], repeated: 0 })
})

test('a lost alert is found, and one that nothing retracted', () => {
  assert.deepEqual(audit(WHOLE.slice(1)).findings, ['block: the alert of a is lost'])
  assert.deepEqual(audit([...WHOLE, 'block 1 a retracted']).findings, ['block: the alert of a is lost'])
  assert.deepEqual(audit([...WHOLE, 'block 4 x']).findings, [
    'block: x is not of the chain, and its alert was not retracted',
  ])
  assert.deepEqual(audit([...WHOLE, 'deep 4 x', 'deep 4 x retracted']).findings, [
    'deep: x is not of the chain, and fired in spite of its confirmations',
  ])
})

test('an alert that comes twice is found, unless a kill explains it', () => {
  const twice = [...WHOLE, 'block 1 a confirmed 9000']
  assert.deepEqual(audit(twice).findings, ['block: a came twice, 9000 ms apart, without a kill between'])
  assert.deepEqual(audit(twice, [5000]), { findings: [], repeated: 1 })
  assert.deepEqual(audit(twice, [9500]).findings.length, 1)
  assert.deepEqual(audit([...WHOLE, 'block 9 a']).findings, ['block: a has 2 alerts'])
})

test('documents that are missing, foreign or doubled are found', () => {
  assert.equal(differenceOf(['a', 'b'], ['a', 'b']), undefined)
  assert.equal(differenceOf(['a', 'b'], ['a']), '1 of 2 are missing, such as b')
  assert.equal(differenceOf(['a'], ['a', 'b']), '1 are not the node’s, such as b')
  assert.equal(differenceOf(['a'], ['a', 'a']), '1 are there twice')
})
