import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../e2e/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { counted, DEMO, overhang, skip, useConsole, violations } from './support.ts'

const RULES = '/alerting/rules'
const NARROW = { width: 360, height: 740 }

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
    await grid.getByText('failing', { exact: true }).waitFor()
    await grid.getByText('has accepted nothing since').waitFor()
    const badge = page.getByRole('img', { name: 'a receiver of alerts is failing' })
    await badge.waitFor()
    assert.equal(await badge.textContent(), '1')
    assert.deepEqual(await violations(page), [])

    await page.getByRole('link', { name: 'Status' }).click()
    await page.getByText('A receiver of your alerts is failing since').waitFor()
    await page.getByRole('link', { name: 'Show the receivers' }).click()
    await page.getByRole('region', { name: 'Receivers' }).getByText('failing since').waitFor()

    await page.getByRole('link', { name: 'Rules' }).click()
    await grid.getByRole('link', { name: 'Large transfers' }).click()
    const banner = page.getByRole('alert').filter({ hasText: 'Alerts do not arrive.' })
    await banner.getByText(`${receiver.url}/hook`).waitFor()
    await counted(page.getByText('has accepted nothing since'), 0)
    await page.getByText('number is greater than 415').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize(NARROW)
    assert.equal(await overhang(page), 0)

    isUp = true
    await banner.getByRole('button', { name: 'Send dead again' }).click()
    await page.getByRole('button', { name: 'Send all again' }).click()
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
    await page.getByText('Paused: it finds nothing until it is resumed.').waitFor()
    await counted(page.getByText('"enabled": true to resume'), 0)
    await page.getByRole('link', { name: 'All rules' }).click()
    await page.getByRole('grid', { name: 'Rules' }).getByText('paused', { exact: true }).waitFor()
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
    await preview.getByText('as text, since that is not a number. Write "100000".').waitFor()
    const value = page.getByLabel('Value').first()
    await value.fill('Transfer')
    await page.getByText('value must be a number, not "100,000". Write "100000".').first().waitFor()
    await preview.getByText('Correct what is marked.').waitFor()
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
    await page.getByLabel('Token', { exact: true }).fill(bench.server.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('No transactions and events so far: these are the blocks.').waitFor()
    const grid = page.getByRole('grid', { name: 'Hits' })
    await grid.getByText('420').first().waitFor()
    await counted(page.getByText('Nothing was found'), 0)
    await page.getByText('Not live: none of its nodes answers, since').waitFor()
    assert.equal(await page.getByRole('img', { name: `${DEMO}: none of its nodes answers` }).textContent(), '1')
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize(NARROW)
    assert.equal(await overhang(page), 0)
    // What was asked for is answered as it is.
    await page.goto(`${bench.server.url}/console/explore?q=nobody&kinds=tx,event`)
    await page.getByText('Nothing was found').waitFor()
    isEmpty = false
    await page.goto(`${bench.server.url}/console/explore`)
    await grid.getByText('event').first().waitFor()
    await counted(page.getByText('No transactions and events so far'), 0)
  })
})
