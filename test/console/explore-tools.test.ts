import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { dateOf } from '../../src/console/parts/format.ts'
import { checkLayout, choose, DEMO, overhang, press, see, signIn, skip, useConsole, violations } from './support.ts'

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

/** Headless browsers cannot show the dialog for a file. */
const withoutPicker = (page: Page) =>
  page.addInitScript(() => Object.defineProperty(window, 'showSaveFilePicker', { value: undefined }))

describe('Explore: hits and what is done with them', { skip }, () => {
  const bench = useConsole()
  const total = (kinds: string, query: unknown) => bench.server.total(DEMO, kinds, query)
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  test('the demo chain offers five searches, each of which finds something', async t => {
    const page = await bench.enter(t)
    await press(page, 'More actions')
    // They come after the last of the actions.
    await page.getByRole('menuitem', { name: 'Copy as JSON' }).waitFor()
    const titles = (await page.getByRole('menuitem').allTextContents()).slice(-5)
    assert.match(titles.join(), /^Transfers of the demo dollar.*block 400$/)
    for (const title of titles) {
      await page.goto(`${bench.server.url}/console/`)
      await choose(page, 'More actions', title)
      await see(page, /^[1-9][\d,]* hits? in/)
      await page.getByRole('grid').waitFor()
    }
  })

  test('amounts have decimals and a symbol, and tokens their names', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Transfer')
    await page
      .getByRole('gridcell', { name: /DUSD Transfer\(/ })
      .first()
      .waitFor()
    const amount = page.getByRole('gridcell', { name: /^[\d,.]+ DUSD$/ }).first()
    await amount.waitFor()
    const row = page.getByRole('row').filter({ has: amount })
    const str = await row.first().textContent()
    const title = await amount.locator('.amount').getAttribute('title')
    assert.match(title!, /^\d+ \/ 10\^6$/)
    const units = Number(/^\d+/.exec(title!)![0]) / 1e6
    assert.ok((await amount.textContent())!.startsWith(units.toLocaleString('en-GB', { maximumFractionDigits: 6 })))
    // What says it in units, too, and names contracts; the address is on hover.
    assert.match(str!, /DUSD Transfer\(from=.*, to=.*, value=[\d,.]+ DUSD\)/)
    assert.equal(await row.first().getByRole('link', { name: 'DUSD' }).getAttribute('title'), DOLLAR)
  })

  test('columns are chosen, moved and sorted by, and the address keeps them', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=tx')
    await choose(page, 'More actions', 'Columns')
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.getByLabel('Find a field').fill('gasUsed')
    await dialog.getByLabel('gasUsed', { exact: true }).click()
    await dialog.getByLabel('Amount', { exact: true }).click()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    const header = page.getByRole('columnheader', { name: /gasUsed/ })
    await header.getByRole('button').click()
    await page.locator('[aria-sort=descending]').waitFor()
    const { hits } = await bench.server.search(DEMO, 'tx', { size: 1, sort: [{ 'gasUsed.num': 'desc' }] })
    const most = (hits.hits[0]!._source.gasUsed as { num: number }).num.toLocaleString('en-GB')
    const first = page.locator('[aria-rowindex="2"]')
    await first.getByText(most, { exact: true }).waitFor()
    await page.reload()
    await first.getByText(most, { exact: true }).waitFor()
    const grid = page.getByRole('grid')
    for (const end = Date.now() + 120_000; (await grid.getAttribute('aria-rowcount')) === '101' && Date.now() < end; ) {
      await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
      await page.waitForTimeout(50)
    }
    // A page or more, by how often it scrolled meanwhile.
    assert.match((await grid.getAttribute('aria-rowcount'))!, /^[2-9]01$/, 'further pages are sorted as well')
    await grid.evaluate(box => box.scrollTo(0, 0))
    await header.getByRole('button').click()
    await page.locator('[aria-sort=ascending]').waitFor()
    await header.getByRole('button').click()
    await page.locator('[aria-sort]').waitFor({ state: 'detached' })
  })

  test('a search is saved by name in this browser, and removed after a question', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Swap')
    await choose(page, 'More actions', 'Saved searches')
    const dialog = page.getByRole('dialog', { name: 'Saved searches' })
    await see(dialog, 'saved in this browser alone')
    await button(page, 'Save').click()
    await see(dialog, 'Type a name')
    const name = 'Swaps <b>\u202e'
    await dialog.getByLabel('Save the search').fill(name)
    await button(page, 'Save').click()
    const link = dialog.getByRole('link', { name: 'Swaps <b>[U+202E]' })
    await link.waitFor()
    assert.deepEqual(await violations(page), [])
    await page.goto(`${bench.server.url}/console/`)
    await choose(page, 'More actions', 'Saved searches')
    await link.click()
    await see(page, `${await total('event', { term: { 'event.raw': 'Swap' } })} hits in`)
    await choose(page, 'More actions', 'Saved searches')
    await press(dialog, /^Remove Swaps/)
    await button(page, 'Remove the search').click()
    await see(dialog, 'No search is saved yet')
    assert.equal(await page.evaluate(() => localStorage.getItem('chainsieve.searches')), '[]')
  })

  test('a search is copied as curl and as JSON, without the token', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Swap', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('grid').waitFor()
    const copy = async (how: string) => {
      await choose(page, 'More actions', how)
      await page
        .getByText(/^Copied/)
        .first()
        .waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    const curl = await copy('as curl')
    assert.ok(curl.startsWith(`curl -s '${bench.server.url}/${DEMO}/es/event/search/'`), curl)
    assert.ok(!curl.includes('cs_'))
    const body = await copy('as JSON')
    const answer = await bench.server.search(DEMO, 'event', JSON.parse(body))
    assert.equal(answer.hits.total, await total('event', { term: { 'event.raw': 'Swap' } }))
  })

  test('all hits are downloaded as CSV and as NDJSON', async t => {
    const page = await bench.open(t)
    await withoutPicker(page)
    await page.goto(`${bench.server.url}/console/explore?kinds=event,log`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    const all = await total('event,log', { match_all: {} })
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    const take = async (form: string) => {
      await dialog.getByLabel('Format').selectOption(form)
      const waits = page.waitForEvent('download')
      await button(page.locator('dialog') as unknown as Page, 'Download').click()
      const file = await waits
      await see(dialog, `Downloaded ${all.toLocaleString('en-GB')} hits`)
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
    }
    const lines = await take('ndjson')
    assert.equal(lines.name, 'ethereum-demo-local-event-log.ndjson')
    assert.equal(
      new Set(
        lines.text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line)._id),
      ).size,
      all,
    )
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('All fields').uncheck()
    const table = await take('csv')
    assert.match(table.text, /^_id,_type,.*timestamp/)
  })

  test('a download of one event has a column for each argument', async t => {
    const page = await bench.open(t)
    await withoutPicker(page)
    await page.goto(`${bench.server.url}/console/explore?kinds=event&q=event:Swap`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    const take = async () => {
      const waits = page.waitForEvent('download')
      await button(page.locator('dialog') as unknown as Page, 'Download').click()
      const file = await waits
      await see(dialog, 'Downloaded ')
      return readFileSync(await file.path())
    }
    await dialog.getByLabel('A column for each argument').check()
    assert.match(
      (await take()).toString(),
      /^blockNumber,timestamp,transactionHash,transactionIndex,logIndex,address,sender,/,
    )
    await dialog.getByLabel('Format').selectOption('parquet')
    const file = await take()
    assert.equal(file.subarray(0, 4).toString() + file.subarray(-4).toString(), 'PAR1PAR1')
    assert.deepEqual(await violations(page), [])
  })

  test('a download goes to the chosen file piece by piece, and can be cancelled', async t => {
    const page = await bench.open(t)
    await page.addInitScript(() => {
      const file = { bytes: 0, state: 'open' }
      const sink = {
        async write(chunk: Uint8Array) {
          file.bytes += chunk.length
          await new Promise(resolve => setTimeout(resolve, 200))
        },
        async close() {
          file.state = 'closed'
        },
        async abort() {
          file.state = 'aborted'
        },
      }
      Object.assign(window, {
        file,
        showSaveFilePicker: async () => ({ createWritable: async () => new WritableStream(sink) }),
      })
    })
    await page.goto(`${bench.server.url}/console/explore?kinds=event,log,call,trace`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    await dialog.getByRole('button', { name: 'Download', exact: true }).click()
    await dialog.getByRole('progressbar').waitFor()
    assert.deepEqual(await violations(page), [])
    await button(page, 'Cancel the download').click()
    await dialog.getByLabel('Format').waitFor()
    assert.equal(await page.evaluate(() => (window as unknown as { file: { state: string } }).file.state), 'aborted')
  })

  test('dragging across the chart narrows the time', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event')
    await page.locator('.chart canvas').waitFor()
    const all = await total('event', { match_all: {} })
    const { x, y, width, height } = (await page.locator('.chart .u-over').boundingBox())!
    await page.mouse.move(x + width * 0.3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.6, y + height / 2, { steps: 5 })
    await page.mouse.up()
    await button(page, 'Show the whole time').waitFor()
    const { searchParams } = new URL(page.url())
    const [gte, lt] = [searchParams.get('from'), searchParams.get('to')]
    const some = await total('event', { range: { timestamp: { gte, lt, format: 'epoch_millis' } } })
    assert.ok(some > 0 && some < all)
    await see(page, `${some.toLocaleString('en-GB')} hits in`)
  })

  test('the time is chosen by a preset before the newest block, or between two times', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event')
    const { hits } = await bench.server.search(DEMO, 'block', { size: 1, sort: [{ 'number.num': 'desc' }] })
    const newest = dateOf(hits.hits[0]!._source.timestamp as string).getTime()
    const since = (gte: number, lte = newest) =>
      total('event', { range: { timestamp: { gte, lte, format: 'epoch_millis' } } })
    await choose(page, 'Time range: All of the chain', 'Last hour')
    await see(page, `${(await since(newest - 3_600_000)).toLocaleString('en-GB')} hits in`)
    assert.equal(new URL(page.url()).searchParams.get('range'), '3600')
    await choose(page, 'Time range: Last hour', 'Custom …')
    const dialog = page.getByRole('dialog', { name: 'Time range' })
    await dialog.getByLabel('From, UTC').fill('2025-01-01T00:30')
    await dialog.getByLabel('To, UTC').fill('2025-01-01T00:10')
    await see(dialog, 'This is not after the beginning')
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('To, UTC').fill('2025-01-01T00:50')
    await press(dialog, 'Apply')
    const [from, to] = ['30', '50'].map(minute => Date.parse(`2025-01-01T00:${minute}:00Z`))
    await see(page, `${(await since(from!, to! - 1)).toLocaleString('en-GB')} hits in`)
    await press(page, 'Show the whole time')
    await see(page, `${(await total('event', { match_all: {} })).toLocaleString('en-GB')} hits in`)
  })

  test('the chart is split by kind, event or method, whose sums its legend has', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=tx,event')
    const legend = page.locator('.legend li')
    const [events, txs] = [await total('event', { match_all: {} }), await total('tx', { match_all: {} })]
    await see(page, /^per \d+ minutes, by/)
    assert.deepEqual(await legend.allTextContents(), [
      `event ${events.toLocaleString('en-GB')}`,
      `tx ${txs.toLocaleString('en-GB')}`,
    ])
    await choose(page, 'Split by kind', 'event')
    const transfers = await total('event', { term: { 'event.raw': 'Transfer' } })
    await legend.filter({ hasText: `Transfer ${transfers.toLocaleString('en-GB')}` }).waitFor()
    const counts = (await legend.allTextContents()).map(it => Number(/[\d,]+$/.exec(it)![0].replaceAll(',', '')))
    assert.equal(
      counts.reduce((sum, it) => sum + it),
      events + txs,
    )
    assert.equal(counts.length, 7, 'six names and all others')
    const { height } = (await page.locator('.chart canvas').boundingBox())!
    assert.ok(height >= 140)
  })

  test('Search searches for the same text again', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Swap')
    await see(page, /^\d+ hits in/)
    const again = page.waitForRequest(/search/)
    await button(page, 'Search').click()
    await again
    await see(page, /^\d+ hits in/)
  })

  test('columns of numbers are right aligned, also those of fields', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=tx&columns=@time,@amount,gasUsed,value,from')
    const cells = page.getByRole('row').nth(1).getByRole('gridcell')
    await page.locator('[role=gridcell].right').nth(2).waitFor()
    const alignments = await cells.evaluateAll(all => all.map(it => getComputedStyle(it).textAlign === 'right'))
    assert.deepEqual(alignments, [false, true, true, true, false])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`a phone has cards with what and how much first, and controls for fingers (${colorScheme})`, async t => {
      const viewport = { width: 390, height: 844 }
      const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Transfer', { viewport, colorScheme })
      const amount = page.getByRole('gridcell', { name: /DUSD$/ }).first()
      await amount.waitFor()
      const [card, what, much] = await Promise.all(
        [
          page.getByRole('row').filter({ has: amount }),
          page.getByRole('row').filter({ has: amount }).getByText('Transfer'),
          amount,
        ].map(async it => (await it.first().boundingBox())!),
      )
      assert.ok(Math.abs(what!.y - much!.y) < 8 && what!.y - card!.y < card!.height / 2, 'both are on the first line')
      assert.ok(much!.x + much!.width <= viewport.width, 'nothing has to be scrolled to')
      assert.equal(await overhang(page), 0)
      assert.deepEqual(await violations(page), [])
      const controls = page.locator('main :is(button, input, select, a):visible')
      for (const it of await controls.all()) {
        const { width, height } = (await it.boundingBox())!
        assert.ok(
          width >= 24 && height >= 24,
          `${await it.evaluate(({ outerHTML }) => outerHTML)}: ${width} × ${height}`,
        )
      }
      await page.locator('.cards').evaluate(box => box.scrollTo(0, 640))
      await page.locator('[aria-rowindex="30"]').waitFor()
      await page.locator('[aria-rowindex="14"] .first').first().click()
      await page.getByRole('complementary', { name: 'The open hit' }).getByText('value').waitFor()
      assert.deepEqual(await violations(page), [])
      await press(page, 'Close')
    })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing where all columns are (${colorScheme})`, async t => {
      const columns = '@time,@block,@kind,@thing,@what,@amount,from,value,args,status'
      const page = await bench.enter(t, `/console/explore?columns=${columns}`, { colorScheme })
      await page.getByRole('row').nth(3).waitFor()
      await checkLayout(page)
    })
})
