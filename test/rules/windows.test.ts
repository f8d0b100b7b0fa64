import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRule } from '../../src/rules/schema.ts'
import { canonicalKey, keptText, watchedKeys } from '../../src/windows/window.ts'

const SUM = { aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '1000000' }
const COUNT = { aggregate: 'Count', operator: 'Less', value: '1' }
const AGAIN = { after: { seconds: 3_600 } }
const WHEN = { by: ['args.to'], within: { seconds: 600 }, conditions: [SUM] }

const faultsOf = (when: unknown, notify?: unknown) =>
  checkRule({
    ...{ name: 'r', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
    config: {
      targetType: 'Event',
      targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
      when,
      ...(notify !== undefined && { notify }),
    },
  }).faults.map(({ path, message }) => `${path}: ${message}`)

test('windows that can be computed are accepted', () => {
  for (const [when, notify] of [
    [WHEN, { resolved: true }],
    [WHEN, { again: { after: { blocks: 1 } } }],
    [WHEN, { again: { ...AGAIN, if: 'Worse' } }],
    [{ within: { blocks: 5 }, conditions: [{ ...COUNT, value: '1.5' }] }, { again: { ...AGAIN, if: 'Worse' } }],
    [{ within: { blocks: 5 }, conditions: [COUNT] }, { again: AGAIN }],
    [{ ...WHEN, resolve: [{ ...SUM, operator: 'Less', value: '5e5' }] }],
    [{ within: { blocks: 5 }, conditions: [COUNT] }],
    [{ ...WHEN, hold: { seconds: 60 } }],
    [
      {
        within: { seconds: 300 },
        conditions: [
          { aggregate: 'Count', operator: 'Greater', value: '5', relativeTo: { windows: 12 } },
          { aggregate: 'Count', operator: 'Greater or Equal', value: '20' },
        ],
      },
    ],
    [
      {
        by: ['address'],
        keys: ['0x37bC7498f4FF12C19678ee8fE19d939b87F6a27B'],
        within: { blocks: 5 },
        conditions: [COUNT],
      },
    ],
    [{ within: { seconds: 2_592_000 }, conditions: [{ aggregate: 'First', name: 'address' }] }],
  ] as [unknown, unknown?][])
    assert.deepEqual(faultsOf(when, notify), [])
})

test('each fault of windows names its place and the remedy', () => {
  const cases: [unknown, RegExp, unknown?][] = [
    [{ ...WHEN, hold: {} }, /^config\.when\.hold: hold must have either "blocks" or "seconds"\.$/],
    [{ ...WHEN, hold: { blocks: 0 } }, /^config\.when\.hold\.blocks: blocks must be an integer from 1 to 1000000/],
    [
      { within: { blocks: 1 }, conditions: [{ aggregate: 'First', name: 'address' }], hold: { blocks: 1 } },
      /^config\.when\.hold: "First" holds in one block only, .* leave hold out\.$/,
    ],
    [{ ...WHEN, until: {} }, /^config\.when\.until: "until" goes with steps: leave it out\.$/],
    [{ ...WHEN, steps: [] }, /^config\.when\.conditions: "conditions" does not go with steps/],
    [
      { ...WHEN, conditions: [{ ...SUM, relativeTo: { windows: 0 } }] },
      /^config\.when\.conditions\[0\]\.relativeTo\.windows: windows must be an integer from 1 to 100/,
    ],
    [
      { ...WHEN, conditions: [{ ...SUM, aggregate: 'Average', relativeTo: { windows: 3 } }] },
      /relativeTo: relativeTo goes with "Count" and "Sum", which add up over windows: leave it out\.$/,
    ],
    [
      { ...WHEN, within: { seconds: 2_592_000 }, conditions: [{ ...SUM, relativeTo: { windows: 3 } }] },
      /windows: These windows reach back more than 7776000 seconds together: compare with fewer, or make within shorter\.$/,
    ],
    [
      { ...WHEN, conditions: [{ ...SUM, operator: 'Less', relativeTo: { windows: 3 } }] },
      /conditions\[0\] holds where nothing matched/,
    ],
    [undefined, /^config\.notify\.again: again needs "when" .* without "when" .* Leave it out\.$/, { again: AGAIN }],
    [
      { within: { blocks: 1 }, conditions: [{ aggregate: 'First', name: 'address' }] },
      /^config\.notify\.again: again needs .* an alert of "First" has no end/,
      { again: AGAIN },
    ],
    [
      { ...WHEN, by: undefined, across: true },
      /^config\.notify\.again: again is not supported beside "across": leave one of them out\.$/,
      { again: AGAIN },
    ],
    [WHEN, /^config\.notify\.again\.after: after must be an object with "blocks" and "seconds"/, { again: {} }],
    [
      WHEN,
      /^config\.notify\.again\.after: after must have either "blocks" or "seconds"\.$/,
      { again: { after: { blocks: 1, seconds: 1 } } },
    ],
    [WHEN, /again\.after\.blocks: blocks must be an integer from 1 to 1000000/, { again: { after: { blocks: 0 } } }],
    [WHEN, /again\.if: if must be left out or: "Worse"/, { again: { ...AGAIN, if: 'Better' } }],
    [WHEN, /again\.every: "every" is not a property of again/, { again: { ...AGAIN, every: 1 } }],
    [
      { within: { blocks: 5 }, conditions: [COUNT, { ...SUM, operator: 'Equals' }] },
      /^config\.notify\.again\.if: No value of this rule can get worse: .* in when\.conditions with "Greater" or "Less" that several values meet\. Write one, or leave if out\.$/,
      { again: { ...AGAIN, if: 'Worse' } },
    ],
    [undefined, /^config\.notify\.resolved: resolved needs "when"/, { resolved: true }],
    [{ ...WHEN, by: ['args.to', 'args.to'] }, /by\[1\] is the same as by\[0\]/],
    [{ ...WHEN, by: ['nothing'] }, /^config\.when\.by\[0\]: .* has no attribute "nothing"/],
    [
      { ...WHEN, by: ['address', 'event', 'args.to', 'args.from'] },
      /^config\.when\.by: by must be a list of at most 3 names/,
    ],
    [{ ...WHEN, within: {} }, /^config\.when\.within: within must have either "blocks" or "seconds"\.$/],
    [{ ...WHEN, within: { blocks: 1, seconds: 1 } }, /either/],
    [{ ...WHEN, within: { blocks: 0 } }, /within\.blocks: blocks must be an integer from 1 to 1000000/],
    [{ ...WHEN, conditions: [] }, /conditions must be a list of 1 to 4 conditions/],
    [{ ...WHEN, conditions: [{ ...SUM, value: 'much' }] }, /value must be a decimal or 0x-hex number/],
    [{ ...WHEN, conditions: [{ ...SUM, name: undefined }] }, /name must be the name of a field/],
    [{ ...WHEN, conditions: [{ ...SUM, aggregate: 'Median' }] }, /aggregate must be one of: "Count"/],
    [{ ...WHEN, conditions: [{ ...COUNT, name: 'address' }] }, /name must be left out/],
    [{ ...WHEN, conditions: [COUNT] }, /conditions\[0\] holds where nothing matched, .* name those to watch in keys/],
    [{ ...WHEN, conditions: [{ ...SUM, operator: 'Equals', value: '0' }] }, /holds where nothing matched/],
    [{ ...WHEN, by: [], keys: ['a'] }, /keys are values of the only name in by, which has 0\./],
    [{ ...WHEN, keys: ['0xAB', '0xab'] }, /keys\[1\] is in the list twice/],
    [
      { within: { blocks: 1 }, conditions: [{ aggregate: 'First', name: 'address' }], resolve: [COUNT] },
      /"First" has no episode/,
    ],
  ]
  for (const [when, fault, notify] of cases) {
    const faults = faultsOf(when, notify)
    assert.ok(
      faults.some(it => fault.test(it)),
      `${fault}: ${faults.join('; ')}`,
    )
  }
})

test('of long values a hash is kept, the same for those that are equal', () => {
  const long = `0x${'aB'.repeat(50_000)}`
  assert.equal(canonicalKey(long), canonicalKey(long.toLowerCase()))
  assert.notEqual(canonicalKey(long), canonicalKey(`${long}00`))
  assert.equal(canonicalKey(long).length, 76)
  assert.equal(keptText('n'.repeat(1_000)).length, 76)
  assert.deepEqual(watchedKeys({ by: ['input'], keys: [long], within: { blocks: 1 }, conditions: [] }), [
    JSON.stringify([canonicalKey(long)]),
  ])
  for (const short of [`0x${'ab'.repeat(32)}`, 'n'.repeat(100)]) assert.equal(canonicalKey(short), short)
})

test('five times as many failed transactions of a router as in the last hour is a rule', () => {
  const { faults } = checkRule({
    ...{ name: 'r', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
    config: {
      targetType: 'Transaction',
      targetMap: [
        { name: 'to', operator: 'Equals', value: '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45' },
        { name: 'status', operator: 'Equals', value: 'false' },
      ],
      when: {
        within: { seconds: 300 },
        conditions: [
          { aggregate: 'Count', operator: 'Greater', value: '5', relativeTo: { windows: 12 } },
          { aggregate: 'Count', operator: 'Greater or Equal', value: '20' },
        ],
      },
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org' } }],
    },
  })
  assert.deepEqual(faults, [])
})
