import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AlertMessage } from '../../src/delivery/channels/channel.ts'
import type { Action } from '../../src/rules/rule.ts'
import { dataFolder, makeContext, makeMessage, openChannels } from '../support/delivery.ts'
import { startReceiver } from '../support/receiver.ts'

/**
 * The program of `go install github.com/prometheus/alertmanager/cmd/alertmanager@v0.28.1`, which
 * takes minutes to build.
 */
const PROGRAM = process.env.ALERTMANAGER

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

const startAlertmanager = async (t: TestContext, webhook: string): Promise<string> => {
  const folder = await dataFolder(t)
  const route = { receiver: 'hook', group_by: ['...'], group_wait: '0s', group_interval: '1s' }
  const hook = { name: 'hook', webhook_configs: [{ url: webhook, send_resolved: true }] }
  // YAML takes JSON.
  await writeFile(join(folder, 'am.yml'), JSON.stringify({ route, receivers: [hook] }))
  const port = await freePort()
  const child = spawn(
    PROGRAM!,
    [
      `--config.file=${join(folder, 'am.yml')}`,
      `--storage.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.route-prefix=/am',
      '--cluster.listen-address=',
    ],
    { stdio: 'ignore' },
  )
  const exited = new Promise(resolve => child.on('exit', resolve))
  t.after(async () => {
    child.kill()
    await exited
  })
  const url = `http://127.0.0.1:${port}/am`
  for (let left = 100; ; left--) {
    const ready = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (ready?.ok) return url
    assert.ok(left > 0, 'Alertmanager does not start')
    await sleep(200)
  }
}

test('a real Alertmanager has one alert for its messages, notifies of it, and resolves it', {
  skip: PROGRAM === undefined && 'ALERTMANAGER names no program',
}, async t => {
  const hook = await startReceiver(t)
  const url = await startAlertmanager(t, `${hook.url}/hook`)
  const action: Action = { type: 'Alertmanager', parameters: { url, severity: 'critical' } }
  const channel = openChannels(t).of(action)
  const rule = { id: 7, name: 'Whales "of" <USDC>\\', version: null }
  const send = async (over: Partial<AlertMessage>) => {
    const outcome = await channel.send(action, [makeMessage({ rule, timestamp: Date.now(), ...over })], makeContext())
    assert.equal(outcome.type, 'delivered', JSON.stringify(outcome))
  }
  const listed = async () =>
    (await (await fetch(`${url}/api/v2/alerts`)).json()) as { labels: Record<string, string>; endsAt: string }[]
  const notified = async (status: string) => {
    for (let left = 100; left > 0; left--) {
      const bodies = hook.calls.map(({ body }) => JSON.parse(body) as { status: string; alerts: { labels: object }[] })
      const found = bodies.find(it => it.status === status)
      if (found) return found.alerts[0]!
      await sleep(100)
    }
    return assert.fail(`no notification that it is ${status}`)
  }

  await send({ type: 'alert.pending' })
  await send({ type: 'alert.confirmed' })
  const [alert, ...more] = await listed()
  assert.deepEqual(more, [])
  assert.deepEqual(alert!.labels, {
    ...{ alertname: rule.name, alert: makeMessage().id, rule: '7', network: 'ethereum/ethereum/mainnet' },
    ...{ target: 'Event', severity: 'critical' },
  })
  assert.ok(Date.parse(alert!.endsAt) > Date.now() + 23 * 3_600_000)
  assert.deepEqual((await notified('firing')).labels, alert!.labels)

  await send({ type: 'alert.repeated', repeat: 20 })
  assert.deepEqual(
    (await listed()).map(({ labels }) => labels),
    [alert!.labels],
  )

  await send({ type: 'alert.retracted' })
  assert.deepEqual((await notified('resolved')).labels, alert!.labels)
  assert.deepEqual(await listed(), [])
})
