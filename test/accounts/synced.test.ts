import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSynced } from '../../src/accounts/file.ts'

test('whoever asks while the disk works waits for one more turn of it, with all others', async () => {
  const turns: PromiseWithResolvers<void>[] = []
  const synced = createSynced(() => {
    const turn = Promise.withResolvers<void>()
    turns.push(turn)
    return turn.promise
  })
  const done: string[] = []
  const ask = (name: string) => synced().then(() => void done.push(name))
  const asked = [ask('first'), ask('second'), ask('third')]
  assert.equal(turns.length, 1)
  turns[0]!.resolve()
  await asked[0]
  await new Promise(setImmediate)
  assert.deepEqual([done, turns.length], [['first'], 2])
  turns[1]!.resolve()
  await Promise.all(asked)
  assert.deepEqual([done, turns.length], [['first', 'second', 'third'], 2])
  const last = ask('last')
  turns[2]!.resolve()
  await last
})

test('a disk that fails is told to those who wait for it, and asked again by the next', async () => {
  let fails = true
  const synced = createSynced(async () => {
    if (fails) throw new Error('the disk fails')
  })
  await assert.rejects(Promise.all([synced(), synced()]), /the disk fails/)
  fails = false
  await synced()
})
