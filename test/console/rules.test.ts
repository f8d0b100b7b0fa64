import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../e2e/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { BOT_TOKEN } from '../support/services.ts'
import {
  checkLayout,
  choose,
  counted,
  DEMO,
  follow,
  overhang,
  press,
  rewrite,
  see,
  skip,
  turnTo,
  useConsole,
  violations,
} from './support.ts'

const RULES = '/alerting/rules'
const DUSD = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const ALICE = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'

const bodyFor = (url: string, more: object = {}) => ({
  name: 'Alice spends',
  maxConfirmationCount: 3,
  ...{ technology: 'ethereum', blockchain: 'demo', network: 'local', startBlock: 0 },
  config: {
    targetType: 'Transaction',
    targetMap: [
      { name: 'from', operator: 'Equals', value: ALICE },
      { name: 'value.coin', operator: 'Greater or Equal', value: '2' },
    ],
    alerts: [{ type: 'Webhook (POST)', parameters: { url } }],
  },
  ...more,
})

interface Rule {
  id: number
  name: string
  enabled: boolean
  maxConfirmationCount: number
  config: { targetType: string; targetMap: unknown[]; alerts: { payload?: unknown }[] }
}

describe('rules in the console', { skip }, () => {
  const bench = useConsole(['--allow-target', '127.0.0.1/32'])
  const create = async (body: object): Promise<Rule> => {
    const answer = await bench.server.ask<Rule>(RULES, body)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const read = async (id: number) => (await bench.server.ask<Rule>(`${RULES}/${id}`)).body
  const matches = (page: Page) => page.getByRole('region', { name: 'What it would have found' })

  // The first: there is no rule yet.
  test('an empty list offers rules to try, and one of them becomes a rule whose alerts arrive', async t => {
    const receiver = await startReceiver(t, () => ({ status: 200, body: 'thank you' }))
    const page = await bench.enter(t, '/console/rules')
    await see(page, 'There is no rule yet')
    await follow(page, 'Alice sends two ether or more')
    await see(matches(page), '18 matches in blocks 0 to 420')
    await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/{hash}`)
    await press(page, 'Create the rule')
    await page.getByRole('heading', { name: 'Alice spends' }).waitFor()
    const grid = page.getByRole('grid', { name: 'Alerts' })
    await grid.getByText('1 delivered').first().waitFor()
    assert.equal(await grid.getAttribute('aria-rowcount'), '19')
    await grid.getByText('confirmed').first().click()
    const opened = page.getByRole('complementary', { name: 'The open alert' })
    await see(opened, 'its block is deep enough', 'answered: thank you')
    await page.keyboard.press('Escape')
    await opened.waitFor({ state: 'detached' })
    assert.equal(receiver.calls.filter(({ headers }) => headers['webhook-type'] === 'alert.confirmed').length, 18)

    await choose(page, 'More actions', 'Send a test alert')
    await press(page, 'Send the test')
    await page.getByRole('status').getByText('delivered, HTTP 200').waitFor()
    const tests = receiver.calls.filter(({ headers }) => headers['webhook-type'] === 'alert.test')
    assert.equal(tests.length, 1)

    await follow(page, 'All rules')
    const row = page.getByRole('grid', { name: 'Rules' }).getByRole('row').nth(1)
    await row.getByRole('img', { name: '18 alerts in the last 24 hours' }).waitFor()
    assert.match((await row.textContent())!, /^WorkingAlice spends.*18/)
  })

  test('a channel has fields of its own, and its key stays hidden while the rule is changed', async t => {
    const receiver = await startReceiver(t)
    const page = await bench.enter(t, '/console/rules/new?offer=alice')
    await page.getByLabel('Channel', { exact: true }).selectOption('Telegram')
    await page.getByLabel('Token of the bot').fill(BOT_TOKEN)
    await page.getByLabel('Chat', { exact: true }).fill('ops')
    await page.getByLabel('URL of the Bot API (optional)').fill(receiver.url)
    await page.getByLabel('Name', { exact: true }).fill('By bot')
    await press(page, 'Create the rule')
    await see(page.getByLabel('Form'), 'chat must be the id of a chat, or its @name')
    await page.getByLabel('Chat', { exact: true }).fill('@ops')
    await page.getByLabel('Message (optional)').fill('{from|short} pays {value|units}')
    await press(page, 'Create the rule')
    await page.getByRole('heading', { name: 'By bot' }).waitFor()
    await follow(page, 'Edit')
    const token = page.getByLabel('Token of the bot')
    assert.match(await token.inputValue(), /^\[secret [\da-f]{8}\]$/)
    assert.equal(await token.getAttribute('type'), 'password')
    await press(page, 'Show what would be sent')
    await see(page, '/bot[secret]/sendMessage')
    await page.getByLabel('Name', { exact: true }).fill('By our bot')
    await press(page, 'Save the rule')
    await see(page, 'Saved the rule.')
    await choose(page, 'More actions', 'Send a test alert')
    await press(page, 'Send the test')
    await page.getByRole('status').getByText('delivered, HTTP 200').waitFor()
    const { path, body } = receiver.calls.find(it => it.body.includes('Test alert'))!
    assert.equal(path, `/bot${BOT_TOKEN}/sendMessage`)
    assert.match((JSON.parse(body) as { text: string }).text, /\n0x0D3e…e12C pays [\d.]+\n/i)
  })

  test('the form asks what people know, and the preview and a sentence follow', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await see(page, 'Complete the conditions to see it')
    await page.getByLabel('Name', { exact: true }).fill('Dollars')
    const field = page.getByLabel('Field')
    assert.equal(await field.inputValue(), 'event')
    const operators = page.getByLabel('Operator').locator('option')
    await counted(operators.filter({ hasText: 'is more than' }), 0)
    await counted(operators.filter({ hasText: 'is one of' }), 2)
    const value = page.getByLabel('Value', { exact: true })
    await value.click()
    await page.getByRole('option', { name: 'Swap', exact: true }).waitFor()
    await value.fill('Transfer')
    const before = Date.now()
    await see(matches(page), '1,565 matches')
    t.diagnostic(`the preview came ${Date.now() - before} ms after the last key`)
    await matches(page).locator('canvas').waitFor()
    await counted(matches(page).locator('details'), 10)

    // A token by its symbol; the whole address is in sight.
    await press(page, '+ Token or contract')
    await value.last().and(page.locator(':focus')).waitFor()
    await page.keyboard.type('DUSD')
    await page.getByRole('option', { name: 'DUSD 0x252b…7A96' }).click()
    assert.equal((await value.last().inputValue()).toLowerCase(), DUSD.toLowerCase())
    assert.ok(await value.last().evaluate(it => it.scrollWidth <= it.clientWidth))
    await press(page, '+ Amount')
    assert.equal(await field.last().inputValue(), 'value')
    assert.equal(await page.getByLabel('Operator').last().inputValue(), 'Greater')
    assert.ok(await page.getByLabel('In units of DUSD').isChecked())
    await value.last().fill('2500')
    const targetMap = [
      { name: 'event', operator: 'Equals', value: 'Transfer' },
      { name: 'address', operator: 'Equals', value: DUSD },
      {
        ...{ name: 'args', operator: 'Inspect' },
        operatorParameters: [{ name: 'value', operator: 'Greater', value: '2500', useScaledValue: true }],
      },
    ]
    const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }]
    const expected = await bench.server.ask<{ total: number }>(`${RULES}/simulate`, {
      ...bodyFor('https://example.org/'),
      config: { targetType: 'Event', targetMap, alerts },
    })
    assert.ok(expected.body.total > 0)
    await see(matches(page), `${expected.body.total} matches`)
    // In units, as the condition is.
    await matches(page).getByText('value=6,300 DUSD').first().waitFor()
    await press(page, '+ Sender')
    assert.equal(await field.last().inputValue(), 'from')
    await value.last().fill(ALICE)
    await page.getByLabel('URL', { exact: true }).fill('https://example.org/a')
    const said =
      'Notify https://example.org/a of each DUSD Transfer of more than 2,500 DUSD from 0x0D3e…e12C on demo local, 3 blocks later.'
    await page.locator('.sentence', { hasText: said }).waitFor()
    await press(page, 'Remove condition 4')
    await counted(field, 3)
    await counted(page.locator('datalist'), 0)
  })

  test('the form and the JSON are one rule', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await see(page, 'Complete the conditions to see it')
    await turnTo(page, 'JSON')
    const editor = page.getByRole('textbox', { name: 'The rule as JSON' })
    await see(editor, '"targetMap"')
    await rewrite(editor, JSON.stringify(bodyFor('https://example.org/', { name: 'From JSON', team: 'treasury' })))
    await see(matches(page), '18 matches')
    await turnTo(page, 'Form')
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'From JSON')
    await press(page, 'Show what would be sent')
    const shown = page.getByRole('region', { name: 'What would be sent' })
    await see(shown, 'Nothing was sent.', 'Webhook (POST): POST https://example.org/')
    assert.match((await shown.locator('pre').textContent())!, /"rule": \{\s+"id": 0,\s+"name": "From JSON"/)
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Name', { exact: true }).fill('From the form')
    await shown.getByText('Nothing was sent.').waitFor({ state: 'detached' })
    await turnTo(page, 'JSON')
    await see(editor, '"From the form"')
    await editor.press('Control+End')
    await see(editor, '"treasury"')
    await rewrite(editor, '{"name": ')
    await see(page, 'This is not JSON')
    assert.ok(await page.getByRole('button', { name: 'Create the rule' }).isDisabled())
  })

  test('what the server refuses is shown at its place', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await page.getByLabel('Looks at').selectOption('Transaction')
    assert.equal(await page.getByLabel('Field').inputValue(), 'from')
    await page.getByLabel('Field').fill('value.cin')
    await page.getByLabel('Value', { exact: true }).fill('2')
    await see(page, 'has no attribute "value.cin"')
    assert.equal(await page.getByLabel('Field').getAttribute('aria-invalid'), 'true')
    await page.getByLabel('Field').fill('value.coin')
    await page.getByLabel('Field').fill('from')
    await page.getByLabel('Value', { exact: true }).fill('0x12')
    await see(page, 'Nothing would ever match')
    await page.getByLabel('Value', { exact: true }).fill(ALICE)
    await matches(page)
      .getByText(/\d+ matches/)
      .waitFor()
    await page.getByLabel('URL', { exact: true }).fill('http://10.0.0.1/')
    await page.getByLabel('Confirmations').fill('many')
    await press(page, 'Create the rule')
    await see(page, 'The rule was not saved.')
    assert.equal(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid'), 'true')
    assert.equal(await page.getByLabel('Confirmations').getAttribute('aria-invalid'), 'true')
    assert.deepEqual(await violations(page), [])
    // What was typed is kept while one looks elsewhere.
    await follow(page, 'Explore')
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    await page.goBack()
    await see(page, 'What you had not saved is back')
    assert.equal(await page.getByLabel('Confirmations').inputValue(), 'many')
    await press(page, 'Discard it')
    assert.equal(await page.getByLabel('Confirmations').inputValue(), '3')
  })

  test('the payload is chosen from a real document', async t => {
    const rule = await create(bodyFor('http://127.0.0.1:9/', { name: 'Payload', startBlock: 1000 }))
    const page = await bench.enter(t, `/console/rules/${rule.id}/edit`)
    await see(matches(page), '18 matches')
    await press(page, 'Choose fields from a document')
    await see(page, 'Of the newest document that the rule would have found')
    await page.getByRole('checkbox', { name: 'hash', exact: true }).check()
    await page.getByRole('checkbox', { name: 'value.coin', exact: true }).check()
    await see(page, 'Sends hash, value.coin.')
    await press(page, 'Save the rule')
    await see(page, 'Saved the rule.')
    assert.deepEqual((await read(rule.id)).config.alerts[0]!.payload, [
      { fieldType: 'Field', fieldName: 'hash' },
      { fieldType: 'Sub Field', fieldName: 'value', subPayloads: [{ fieldType: 'Field', fieldName: 'coin' }] },
    ])
  })

  test('a search becomes conditions, and what cannot is told', async t => {
    const query = {
      bool: {
        filter: [
          { term: { 'event.raw': 'Transfer' } },
          { range: { 'blockNumber.num': { gte: 100 } } },
          { range: { timestamp: { gte: 1 } } },
          {
            nested: {
              path: 'args',
              query: { bool: { must: [{ term: { 'args.name': 'to' } }, { term: { 'args.value.hex': ALICE } }] } },
            },
          },
        ],
        must_not: [{ exists: { field: 'error' } }],
      },
    }
    const given = new URLSearchParams({ network: DEMO, kinds: 'event,log', from: JSON.stringify(query) })
    const page = await bench.enter(t, `/console/rules/new?${given}`)
    await see(page, 'What the search excludes (NOT) has no counterpart in a rule', 'The span of time was left out')
    const { must_not: _, filter } = query.bool
    const total = await bench.server.total(DEMO, 'event', { bool: { filter: filter.filter((_, i) => i !== 2) } })
    assert.ok(total > 0)
    await see(matches(page), `${total} match`)
  })

  test('a search in Explore by a word becomes a rule of the same meaning', async t => {
    const page = await bench.enter(t, '/console/explore?q=Transfer')
    await choose(page, 'More actions', 'Create rule')
    await page.getByLabel('Looks at').waitFor()
    const shown = () =>
      Promise.all(
        [page.getByLabel('Looks at'), page.getByLabel('Field'), page.getByLabel('Value')].map(it =>
          it.first().inputValue(),
        ),
      )
    assert.deepEqual(await shown(), ['Event', 'event', 'Transfer'])
    await see(matches(page), '1,565 matches')
    await counted(page.getByText('not taken over as a whole'), 0)

    const from = (text: string, kinds = 'tx,event') =>
      page.goto(`${bench.server.url}/console/rules/new?${new URLSearchParams({ network: DEMO, kinds, from: text })}`)
    await from('dusd')
    await page.getByLabel('Looks at').waitFor()
    assert.deepEqual(
      (await shown()).map(it => it.toLowerCase()),
      ['event', 'address', DUSD.toLowerCase()],
    )
    await from(ALICE)
    await see(page, 'the rule only in “from”')
    assert.deepEqual(await shown(), ['Transaction', 'from', ALICE])
    await from('nobody knows')
    await see(page, 'The text “nobody knows” has no counterpart in a rule')
    await from('gas:>21000', 'event,tx')
    await page.getByLabel('Looks at').waitFor()
    assert.deepEqual(await shown(), ['Transaction', 'gas', '21000'])
  })

  test('two who edit one rule: the second one sees the difference and chooses', async t => {
    const rule = await create(bodyFor('http://127.0.0.1:9/', { name: 'Ours', startBlock: 1000 }))
    const path = `/console/rules/${rule.id}/edit`
    const [one, two] = [await bench.enter(t, path), await bench.enter(t, path)]
    await two.getByLabel('Name', { exact: true }).fill('Theirs of two')
    await two.getByLabel('Confirmations').fill('5')
    await one.getByLabel('Name', { exact: true }).fill('Mine of one')
    await one.getByLabel('Description').fill('by one')
    await press(one, 'Save the rule')
    await see(one, 'Saved the rule.')
    await press(two, 'Save the rule')
    const dialog = two.getByRole('dialog', { name: 'Somebody else has changed this rule' })
    await see(dialog, 'Both have changed it')
    assert.equal((await read(rule.id)).name, 'Mine of one')
    assert.equal(await dialog.getByLabel('Keep for name').inputValue(), 'mine')
    assert.equal(await dialog.getByLabel('Keep for maxConfirmationCount').inputValue(), 'mine')
    assert.equal(await dialog.getByLabel('Keep for description').inputValue(), 'theirs')
    assert.deepEqual(await violations(two), [])
    await dialog.getByLabel('Keep for name').selectOption('theirs')
    await press(dialog, 'Use these')
    assert.equal(await two.getByLabel('Description').inputValue(), 'by one')
    await press(two, 'Save the rule')
    await see(two, 'Saved the rule.')
    const { name, maxConfirmationCount, ...rest } = await read(rule.id)
    assert.deepEqual([name, maxConfirmationCount, 'description' in rest], ['Mine of one', 5, true])
  })

  test('pause and delete ask first, and say how many deliveries are cancelled', async t => {
    const receiver = await startReceiver(t, () => ({ status: 503, body: '<b>busy</b>' }))
    const rule = await create(bodyFor(receiver.url, { name: 'Failing', startBlock: 337 }))
    const page = await bench.enter(t, `/console/rules/${rule.id}?tab=deliveries`)
    const grid = page.getByRole('grid', { name: 'Deliveries' })
    await grid.getByText('HTTP 503').first().waitFor()
    await grid.getByText('HTTP 503').first().click()
    const opened = page.getByRole('complementary', { name: 'The open delivery' })
    await opened.getByRole('list', { name: 'Attempts' }).getByText('<b>busy</b>').waitFor()
    await choose(page, 'More actions', 'Pause')
    const dialog = page.getByRole('dialog', { name: 'Pause “Failing”?' })
    await see(dialog, '3 deliveries that wait are cancelled')
    await page.keyboard.press('Escape')
    assert.equal((await read(rule.id)).enabled, true)
    await choose(page, 'More actions', 'Pause')
    await press(dialog, 'Pause the rule')
    await see(page, 'Paused the rule. Cancelled 3 deliveries.')
    assert.equal((await read(rule.id)).enabled, false)

    await opened.getByRole('button', { name: 'Send again' }).waitFor({ state: 'detached' })
    await choose(page, 'More actions', 'Resume')
    await see(page, 'Resumed the rule.')

    await choose(page, 'More actions', 'Delete')
    await press(page, 'Delete the rule')
    await see(page, 'Deleted the rule.')
    await page.getByRole('grid', { name: 'Rules' }).waitFor()
    assert.equal((await bench.server.ask(`${RULES}/${rule.id}`)).status, 404)
  })

  test('one dead delivery is sent again, and then all of them', async t => {
    const receiver = await startReceiver(t, () => ({ status: 410, body: 'no more' }))
    const rule = await create(bodyFor(receiver.url, { name: 'Gone', startBlock: 337 }))
    const page = await bench.enter(t, `/console/rules/${rule.id}?tab=deliveries&state=dead`)
    const grid = page.getByRole('grid', { name: 'Deliveries' })
    await page.locator('[aria-label=Deliveries][aria-rowcount="4"]').waitFor()
    await grid.getByText('dead').first().click()
    const opened = page.getByRole('complementary', { name: 'The open delivery' })
    receiver.behave = () => ({ status: 200, body: 'now' })
    await press(opened, 'Send again')
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await see(opened, 'answered: now')
    await page.locator('[aria-label=Deliveries][aria-rowcount="3"]').waitFor()
    await press(page, 'Send all dead again', 'Send all again')
    await see(page, 'Sending 2 deliveries again', 'No delivery is in this state')
    const alerts = () => new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size
    await until(alerts, count => count === 3)
  })

  test('hostile text stays text on every page', async t => {
    const odd = `<script>document.title='x'</script><img src=x onerror="document.title='x'">\u202e\u0000\u2066`
    const rule = await create(
      bodyFor('http://127.0.0.1:9/', { name: odd, description: odd + 'A'.repeat(8_000), startBlock: 1000, [odd]: odd }),
    )
    const page = await bench.enter(t, '/console/rules')
    const name = page.getByRole('link', { name: '<script>' })
    assert.match((await name.textContent())!, /U\+202E.*U\+0000/s)
    await name.click()
    await page.getByRole('heading', { name: '<script>' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).first().waitFor()
    assert.equal(await overhang(page), 0)
    await turnTo(page, 'JSON')
    await page.getByRole('region', { name: 'The rule as JSON' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await follow(page, 'Edit')
    await page.getByLabel('Description').waitFor()
    assert.equal(await page.title(), 'Rules · Chainsieve')
    assert.deepEqual(await violations(page), [])
    assert.equal((await read(rule.id)).name, odd)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing, wide and narrow (${colorScheme})`, async t => {
      const receiver = await startReceiver(t)
      const { id } = await create(bodyFor(receiver.url, { name: 'Care' }))
      const page = await bench.enter(t, '/console/rules', { colorScheme })
      const look = async () => {
        for (const width of [1024, 390]) {
          await page.setViewportSize({ width, height: 844 })
          assert.deepEqual([width, await overhang(page), await violations(page)], [width, 0, []])
        }
        await page.setViewportSize({ width: 1440, height: 900 })
        await checkLayout(page)
        await page.setViewportSize({ width: 1440, height: 900 })
      }
      await page.getByRole('grid', { name: 'Rules' }).waitFor()
      await look()
      await page.goto(`${bench.server.url}/console/rules/${id}`)
      await page.getByRole('grid', { name: 'Alerts' }).getByText('confirmed').first().click()
      await page.getByRole('complementary').getByText('its block is deep enough').waitFor()
      await page.locator('.chart canvas').waitFor()
      await look()
      await turnTo(page, 'Deliveries')
      await page.getByRole('grid', { name: 'Deliveries' }).getByText('delivered').first().click()
      await page.getByRole('list', { name: 'Attempts' }).waitFor()
      await look()
      await page.goto(`${bench.server.url}/console/rules/new?offer=dollars`)
      await see(matches(page), '165 matches')
      await press(page, 'Choose fields from a document')
      await page.getByRole('checkbox', { name: 'args.value', exact: true }).waitFor()
      await look()
      await turnTo(page, 'JSON')
      await page.getByRole('textbox', { name: 'The rule as JSON' }).waitFor()
      await look()
      await page.goto(`${bench.server.url}/console/rules/99999`)
      await see(page, 'This account has no rule 99999')
      await look()
    })
})
