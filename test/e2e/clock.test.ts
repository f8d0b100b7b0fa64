import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dataFolder } from '../support/delivery.ts'
import { start, succeed, until } from './program.ts'

const DAYS = 400
const AHEAD = encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${DAYS} * 86400000`)

test('a start by a clock that is far ahead removes neither blocks nor entries of the audit trail', async t => {
  const data = await dataFolder(t)
  const first = start(t, ['serve', '--port', '0'], { data })
  await first.says(/Serves/)
  const network = 'ethereum/demo/local'
  const held = async () => JSON.parse(await succeed(t, ['status', '--json'], { data })).networks[0].ranges
  await until(held, ranges => ranges.length > 0)
  first.signal('SIGTERM')
  await first.ended
  const serves = async () => JSON.parse(await succeed(t, ['audit', '--action', 'serve', '--json'], { data })).length
  const before = [await held(), await serves()]
  const args = ['serve', '--port', '0', '--network', network, '--keep-for', '30d', '--keep-audit', '30d']
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${AHEAD}` }
  const second = start(t, args, { data, env, fromSource: true })
  await second.says(/Serves/)
  const isAsked = () => readdirSync(data, { recursive: true }).some(name => `${name}`.includes('-prune-settings'))
  while (isAsked()) await sleep(50)
  second.signal('SIGTERM')
  const { err } = await second.ended
  assert.doesNotMatch(err, /Removed/)
  assert.deepEqual([await held(), await serves()], [before[0], before[1] + 1], join(data))
})
