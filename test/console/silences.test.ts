import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../e2e/program.ts'
import { startReceiver } from '../support/receiver.ts'
import {
  checkLayout,
  choose,
  counted,
  DEMO,
  follow,
  press,
  see,
  skip,
  turnTo,
  useConsole,
  violations,
} from './support.ts'

const SILENCES = '/alerting/silences/'
const RULES = '/alerting/rules/'

interface Silence {
  id: number
  matcher: object
  from: string
  to: string
  reason: string
  state: string
}

describe('silences in the console', { skip }, () => {
  const bench = useConsole(['--allow-target', '127.0.0.1/32'])
  const all = async () => (await bench.server.ask<{ silences: Silence[] }>(SILENCES)).body.silences
  const create = async (url: string, more: object = {}) => {
    const { status, body } = await bench.server.ask<{ id: number }>(RULES, {
      ...{ name: 'Blocks', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
      config: {
        targetType: 'Block',
        targetMap: [{ name: 'number', operator: 'Greater', value: '417' }],
        alerts: [{ type: 'Webhook (POST)', parameters: { url } }],
      },
      ...more,
    })
    assert.equal(status, 201)
    return body.id
  }

  test('a rule is silenced from its page, which says so until the silence is ended', async t => {
    const receiver = await startReceiver(t)
    const id = await create(receiver.url)
    const page = await bench.enter(t, `/console/rules/${id}`)
    await choose(page, 'More actions', 'Silence')
    const dialog = page.getByRole('dialog', { name: 'Create a silence' })
    await see(dialog, 'alerts of Blocks')
    assert.ok(await dialog.getByRole('button', { name: 'Create the silence' }).isDisabled())
    await dialog.getByLabel('For').selectOption('8 hours')
    await dialog.getByLabel('Reason').fill('Upgrade <b>now</b>\u202e')
    assert.deepEqual(await violations(page), [])
    await press(dialog, 'Create the silence')
    await see(page, 'Created the silence.')
    const notice = page.locator('.notice', { hasText: 'Silenced until' })
    await see(notice, /Upgrade <b>now<\/b>/)
    assert.deepEqual(await violations(page), [])
    const [made] = await all()
    assert.deepEqual([made!.matcher, made!.state], [{ rules: [id] }, 'active'])
    const hours = (Date.parse(made!.to) - Date.parse(made!.from)) / 3_600_000
    assert.ok(Math.abs(hours - 8) < 0.1, String(hours))

    // Its alerts are found, and are not sent.
    await bench.server.ask(`${RULES}${id}/`, { startBlock: 0 }, 'PUT')
    await until(
      () => bench.server.ask<{ deliveries: object[] }>('/alerting/deliveries/?state=silenced'),
      ({ body }) => body.deliveries.length === 3,
    )
    await follow(notice, 'Show the silence')
    const opened = page.getByRole('complementary', { name: 'The open silence' })
    await see(opened, '3 deliveries:', '3 of')
    await checkLayout(page)
    await page.setViewportSize({ width: 1_280, height: 800 })
    await press(opened, 'End now')
    await press(page.getByRole('dialog'), 'End the silence')
    await see(page, 'Ended the silence.', 'Nothing is silenced')
    assert.deepEqual(await all(), [])
    assert.equal(receiver.calls.length, 0)
    await turnTo(page, 'Rules')
    await page.getByRole('grid', { name: 'Rules' }).waitFor()
  })

  test('one for a network and a value, from a time on, is made by keys, changed and made again', async t => {
    const rule = await create('http://127.0.0.1:9/', { name: '<img src=x>', team: 'treasury' })
    const page = await bench.enter(t, '/console/rules/silences')
    await see(page, 'Nothing is silenced')
    await page.getByRole('button', { name: 'Create a silence' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Create a silence' })
    await see(dialog, 'Not sent meanwhile: all alerts.')
    await dialog.getByLabel('Rules').selectOption(String(rule))
    await see(dialog, 'Not sent meanwhile: alerts of <img src=x>.')
    await press(dialog, 'Leave out <img src=x>')
    await dialog.getByLabel('From, or now').fill('2030-01-01T10:00')
    await dialog.getByLabel('Reason').fill('Migration')
    await dialog.getByText('Only some of their alerts').click()
    await dialog.getByLabel('Network').selectOption(DEMO)
    await press(dialog, '+ A value that they have', '+ A value that they have')
    await dialog.getByLabel('Name').first().fill('address')
    await dialog.getByLabel('Value').first().fill('0x252bFe6BA05B239912fE0F8f514b3564F40A7A96')
    await dialog.getByLabel('Of the').last().selectOption('rule')
    await dialog.getByLabel('Name').last().fill('team')
    await press(dialog, 'Create the silence')
    await see(dialog, 'a string that is not empty')
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('Value').last().fill('treasury')
    await press(dialog, 'Create the silence')
    const opened = page.getByRole('complementary', { name: 'The open silence' })
    await see(opened, 'Coming', 'Migration')
    const matcher = {
      network: DEMO,
      labels: { team: 'treasury' },
      fields: { address: '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96' },
    }
    const shown = ({ id, matcher, from, to }: Silence) => [id, matcher, from, to]
    const { id } = (await all())[0]!
    const span = ['2030-01-01T10:00:00.000Z', '2030-01-01T11:00:00.000Z']
    assert.deepEqual((await all()).map(shown), [[id, matcher, ...span]])

    await press(opened, 'Change')
    const change = page.getByRole('dialog', { name: /^Change silence/ })
    assert.equal(await change.getByLabel('Name').first().inputValue(), 'address')
    await change.getByLabel('Until').fill('2030-01-01T09:00')
    await press(change, 'Change the silence')
    await see(change, 'later than from')
    await change.getByLabel('Until').fill('2030-01-02T10:00')
    await press(change, 'Change the silence')
    await see(page, 'Changed the silence.')
    const row = page.getByRole('grid', { name: 'Silences' }).getByRole('row')
    await counted(row, 2)
    assert.deepEqual((await all()).map(shown), [[id, matcher, span[0], '2030-01-02T10:00:00.000Z']])
    await row.nth(1).getByRole('link').click()
    await page.keyboard.press('Escape')
    await counted(opened, 0)
    await checkLayout(page)
  })

  test('those that are over come last; what the address names and is not there is told', async t => {
    const answer = (state: string, id: number) => ({
      ...{ id, matcher: { rules: [99] }, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', reason: state },
      ...{ author: 'me', createdAt: '2026-01-01T00:00:00Z', state },
    })
    const page = await bench.open(t)
    await page.route('**/alerting/silences/', route =>
      route.fulfill({ json: { silences: [answer('over', 3), answer('waiting', 2), answer('active', 1)] } }),
    )
    await page.evaluate(token => sessionStorage.setItem('chainsieve.token', token), bench.server.token)
    await page.goto(`${bench.server.url}/console/rules/silences/7`)
    await see(page, 'There is no such silence.')
    const grid = page.getByRole('grid', { name: 'Silences' })
    assert.deepEqual(await grid.locator('.pill').allTextContents(), ['Active', 'Coming', 'Over'])
    await counted(grid.getByText('alerts of Rule 99'), 3)
    await grid.getByText('Over', { exact: true }).click()
    await press(page, 'Silence again')
    assert.equal(await page.getByRole('dialog').getByLabel('Reason').inputValue(), 'over')
  })
})
