import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../e2e/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkLayout, counted, DEMO, follow, press, see, signIn, skip, useConsole, violations } from './support.ts'

const RULES = '/alerting/rules'

describe('what fails is seen in the console', { skip }, () => {
  const bench = useConsole(['--allow-target', '127.0.0.1/32', '--delivery-retries', '1s'])
  const ruleFor = (url: string, more: object = {}) => ({
    ...{ name: 'Large transfers', maxConfirmationCount: 0, startBlock: 0 },
    ...{ technology: 'ethereum', blockchain: 'demo', network: 'local' },
    config: {
      targetType: 'Block',
      targetMap: [{ name: 'number', operator: 'Greater', value: '415' }],
      alerts: [{ type: 'Webhook (POST)', parameters: { url } }],
    },
    ...more,
  })

  test('a receiver that takes nothing: in the head of each page, the list, the rule and the status, until it takes alerts', async t => {
    let isUp = false
    const receiver = await startReceiver(t, () => ({ status: isUp ? 200 : 503 }))
    assert.equal((await bench.server.ask(RULES, ruleFor(`${receiver.url}/hook`))).status, 201)
    await until(
      () => bench.server.ask<{ deliveries: object[] }>('/alerting/deliveries/?state=dead'),
      ({ body }) => body.deliveries.length === 5,
    )
    const page = await bench.enter(t, '/console/rules')
    const grid = page.getByRole('grid', { name: 'Rules' })
    await grid.getByText('Failing', { exact: true }).waitFor()
    await see(grid, 'failing since')
    const badge = page.getByRole('img', { name: 'a receiver of alerts is failing' })
    await badge.waitFor()
    assert.equal(await badge.textContent(), '1')
    await counted(page.getByRole('link', { name: /^Rules/ }).getByRole('img'), 1)
    assert.deepEqual(await violations(page), [])

    await follow(page, 'Status')
    await see(page, 'A receiver of your alerts is failing since')
    await follow(page, 'Show the receivers')
    await page.getByRole('region', { name: 'Receivers' }).getByText('failing since').waitFor()

    await follow(page, 'Rules')
    await follow(grid, 'Large transfers')
    const banner = page.getByRole('alert').filter({ hasText: 'Alerts do not arrive.' })
    await see(banner, `${receiver.url}/hook`)
    await counted(page.getByText('has accepted nothing since'), 0)
    await see(page, 'number is more than 415')
    await checkLayout(page)

    isUp = true
    await press(banner, 'Send dead again')
    await press(page, 'Send all again')
    await counted(banner, 0)
    await counted(badge, 0)
    assert.equal(receiver.calls.filter(({ body }) => body.includes('alert.confirmed')).length >= 10, true)
  })

  test('a paused rule is paused, in the words of the page', async t => {
    const { body } = await bench.server.ask<{ id: number; idle: string }>(
      RULES,
      ruleFor('http://127.0.0.1:9/', { enabled: false }),
    )
    assert.match(body.idle, /"enabled": true/)
    const page = await bench.enter(t, `/console/rules/${body.id}`)
    await see(page, 'Paused: it finds nothing until it is resumed.')
    await counted(page.getByText('"enabled": true to resume'), 0)
    await follow(page, 'All rules')
    await page.getByRole('grid', { name: 'Rules' }).getByText('Paused', { exact: true }).waitFor()
    await counted(page.getByText('"enabled": true'), 0)
  })

  test('a value that is no number is marked in the form, and where no type is known the preview warns', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    const config = (event: string) => ({
      targetType: 'Event',
      targetMap: [
        { name: 'event', operator: 'Equals', value: event },
        {
          name: 'args',
          operator: 'Inspect',
          operatorParameters: [{ name: 'value', operator: 'Greater', value: '100,000' }],
        },
      ],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }],
    })
    const { status, body } = await bench.server.ask<{ id: number; warnings: string[] }>(
      RULES,
      ruleFor('', { config: config('Nobody') }),
    )
    assert.equal(status, 201)
    assert.equal(body.warnings.length, 1)
    await page.goto(`${bench.server.url}/console/rules/${body.id}/edit`)
    const preview = page.getByRole('region', { name: 'What it would have found' })
    await see(preview, 'as text, since that is not a number. Write "100000".')
    const value = page.getByLabel('Value').first()
    await value.fill('Transfer')
    await page.getByText('value must be a number, not "100,000". Write "100000".').first().waitFor()
    await see(preview, 'Correct what is marked.')
  })

  test('Explore shows the blocks of a chain without transactions, and says that a network is not live', async t => {
    const page = await bench.open(t)
    let isEmpty = true
    await page.route('**/es/tx,event/search/**', async route => {
      if (!isEmpty) return route.continue()
      await route.fulfill({ json: { took: 1, hits: { total: 0, hits: [] }, aggregations: {} } })
    })
    await page.route(
      url => url.pathname === '/status',
      async route => {
        const answer = await route.fetch()
        const since = new Date(Date.now() - 60_000).toISOString()
        const reasons = [{ type: 'nodes_failing', network: DEMO, since, reason: 'none of its nodes answers' }]
        await route.fulfill({ response: answer, json: { ...(await answer.json()), reasons } })
      },
    )
    await signIn(page, bench.server.token)
    await see(page, 'No transactions and events so far: these are the blocks.')
    const grid = page.getByRole('grid', { name: 'Hits' })
    await grid.getByText('420').first().waitFor()
    await counted(page.getByText('Nothing was found'), 0)
    await see(page, 'Not live: none of its nodes answers, since')
    assert.equal(await page.getByRole('img', { name: `${DEMO}: none of its nodes answers` }).textContent(), '1')
    await checkLayout(page)
    // What was asked for is answered as it is.
    await page.goto(`${bench.server.url}/console/explore?q=nobody&kinds=tx,event`)
    await see(page, 'Nothing was found')
    isEmpty = false
    await page.goto(`${bench.server.url}/console/explore`)
    await grid.getByText('event').first().waitFor()
    await counted(page.getByText('No transactions and events so far'), 0)
  })
})
