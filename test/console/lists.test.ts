import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkLayout, counted, DEMO, follow, press, see, skip, useConsole, violations } from './support.ts'

const LISTS = '/alerting/lists/'
const ALICE = '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c'
const BOB = '0x58a5f0b73969800faff8556cd2187e3fce71a6cb'

describe('watch lists in the console', { skip }, () => {
  const bench = useConsole()
  const values = async (name: string) =>
    (await bench.server.ask<{ values: string[] }>(`${LISTS}${name}/values/`)).body.values

  test('a list is created from a file, looked up in, changed and deleted', async t => {
    const page = await bench.enter(t, '/console/rules')
    await page.getByRole('tab', { name: 'Watch lists' }).click()
    await see(page, 'There is no watch list yet')
    await press(page, 'Create a list')
    const dialog = page.getByRole('dialog', { name: 'Create a list' })
    await dialog.getByLabel('Name').fill('bad name')
    await dialog.getByLabel('Values').fill(BOB)
    await dialog.getByLabel('Choose a file').setInputFiles({
      ...{ name: 'customers.ndjson', mimeType: 'application/x-ndjson' },
      buffer: Buffer.from(`"${ALICE.toUpperCase().replace('X', 'x')}"\n`),
    })
    await press(dialog, 'Create')
    await see(dialog, 'A list has a name of 1 to 64 letters')
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('Name').fill('customers')
    await press(dialog, 'Create')
    const opened = page.getByRole('complementary', { name: 'The open list' })
    await see(opened, '2 values.')
    assert.deepEqual((await values('customers')).toSorted(), [ALICE, BOB])

    const grid = opened.getByRole('grid', { name: 'Values of the list' })
    await counted(grid.getByRole('row'), 3)
    await opened.getByLabel('Look up a value').fill('0xabc')
    await see(opened, 'The list does not have this value.')
    await opened.getByLabel('Look up a value').fill(BOB)
    await counted(grid.getByRole('row'), 2)
    await press(grid, `Remove ${BOB}`)
    await see(page.getByRole('status'), 'Removed 1 value.')
    await see(opened, '1 value.', 'The list does not have this value.')

    await opened.getByLabel('Look up a value').fill('')
    await opened.getByLabel('Values', { exact: true }).fill(`${ALICE}\n0x01\n0x02`)
    await press(opened, 'Add')
    await see(page.getByRole('status'), 'Added 2 values.')
    await see(opened, '3 values.')
    await opened.getByLabel('Values', { exact: true }).fill('{')
    await press(opened, 'Add')
    await see(page.getByRole('status'), '[0] is an object: write the value alone.')
    await opened.getByLabel('Values', { exact: true }).fill('0x01')
    await opened.getByRole('button', { name: 'Remove', exact: true }).click()
    await see(opened, '2 values.')
    await opened.getByLabel('Values', { exact: true }).fill('0x03')
    await press(opened, 'Replace all')
    await press(page.getByRole('dialog'), 'Replace all')
    await see(opened, '1 value.')
    assert.deepEqual(await values('customers'), ['0x03'])
    await checkLayout(page)
    const last = (await grid.getByRole('button').last().boundingBox())!
    assert.ok(last.x + last.width <= 360, 'what removes a value is in sight on a phone')

    await press(opened, 'Delete the list')
    await press(page.getByRole('dialog'), 'Delete the list')
    await see(page, 'There is no watch list yet')
  })

  test('the table says which rules use a list, which cannot go then; a name is taken once', async t => {
    await bench.server.ask(`${LISTS}used/`, [ALICE], 'PUT')
    const { status } = await bench.server.ask('/alerting/rules', {
      ...{ name: 'Watches', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
      config: {
        targetType: 'Transaction',
        targetMap: [{ name: 'from', operator: 'Equals any', value: { list: 'used' } }],
        alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }],
      },
    })
    assert.equal(status, 201)
    const page = await bench.enter(t, `/console/rules/lists?network=${DEMO}`)
    const row = page.getByRole('grid', { name: 'Watch lists' }).getByRole('row').nth(1)
    assert.match((await row.textContent())!, /^used1Watches\d{4}-/)
    await press(page, 'Create a list')
    const dialog = page.getByRole('dialog', { name: 'Create a list' })
    await dialog.getByLabel('Name').fill('used')
    await dialog.getByLabel('Values').fill(BOB)
    await press(dialog, 'Create')
    await see(dialog, 'There is a list of this name.')
    await page.keyboard.press('Escape')
    await row.getByRole('link', { name: 'used' }).click()
    await press(page, 'Delete the list')
    await press(page.getByRole('dialog'), 'Delete the list')
    await see(page.getByRole('status'), 'The list used is used by rule')
    assert.deepEqual(await values('used'), [ALICE])
    await follow(row, 'Watches')
    await page.getByRole('heading', { name: 'Watches' }).waitFor()
  })

  test('a token that may not see rules sees neither, and is told how to get one that may', async t => {
    for (const path of ['/console/rules', '/console/rules/lists/used']) {
      const page = await bench.enter(t, path, {}, ['search'])
      await see(page, 'Your token lacks the scope rules', '--scope rules')
      await counted(page.getByText('cannot be read'), 0)
    }
  })
})
