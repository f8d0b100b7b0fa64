import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  chatValue,
  cutEscaped,
  cutText,
  escapeChat,
  escapeHtml,
  MAX_SHOWN_VALUE,
  plainLine,
  plainLines,
  withoutMentions,
} from '../../src/delivery/text.ts'

const any = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        '@',
        '&',
        '<',
        '>',
        '`',
        '\n',
        '\r',
        '\u202e',
        '\ud83d',
        '\ude00',
        '😀',
        '&amp;',
        '*',
        'a',
        '\u0000',
      ),
      { maxLength: 60 },
    )
    .map(it => it.join('')),
)
const seeded = { seed: 11, numRuns: 2_000 }

test('readable text stays, what is to be obeyed goes', () => {
  assert.equal(plainLine('Größe 😀 👩‍🚀 日本 عربى'), 'Größe 😀 👩‍🚀 日本 عربى')
  assert.equal(plainLine('a\r\nb\u2028c\td'), 'a b c d')
  assert.equal(plainLine('x\u202egnp.exe\u0000\u001b[31m\u2066\ufeff\u{e0041}\u009b'), 'xgnp.exe[31m')
  assert.equal(plainLine('half \ud83d.'), 'half \ufffd.')
  assert.equal(plainLines('one\r\ntwo\u2028three\u0007\n'), 'one\ntwo\nthree\n')
  fc.assert(
    fc.property(any, text => {
      assert.match(plainLine(text), /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b]*$/u)
      assert.ok(plainLine(text).isWellFormed())
      assert.equal(plainLine(plainLine(text)), plainLine(text))
    }),
    seeded,
  )
})

test('a text that is cut stays within its length, and no character is cut', () => {
  assert.equal(cutText('abcdef', 6), 'abcdef')
  assert.equal(cutText('abcdefg', 6), 'abcde…')
  assert.equal(cutText('abcd😀😀', 6), 'abcd…')
  assert.equal(cutText('abc', 0), '')
  assert.equal(cutEscaped('abc&amp;def', 7), 'abc…')
  assert.equal(cutEscaped('abc&amp;def', 9), 'abc&amp;…')
  fc.assert(
    fc.property(any, fc.nat(70), (text, max) => {
      const whole = text.toWellFormed()
      const cut = cutText(whole, max)
      assert.ok(cut.length <= max && cut.isWellFormed())
      assert.ok(whole === cut || cut === '' || whole.startsWith(cut.slice(0, -1)))
      const escaped = cutEscaped(escapeHtml(whole), max)
      assert.ok(escaped.length <= max && escaped.isWellFormed())
      assert.match(escaped, /^([^&]|&(amp|lt|gt|quot|#39);)*$/)
    }),
    seeded,
  )
})

test('escaped text has no markup and reads as before', () => {
  fc.assert(
    fc.property(any, text => {
      assert.match(escapeHtml(text), /^([^&<>"']|&(amp|lt|gt|quot|#39);)*$/)
      assert.match(escapeChat(text), /^([^&<>]|&(amp|lt|gt);)*$/)
      const back = escapeChat(text).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
      assert.equal(back, text)
    }),
    seeded,
  )
})

test('nobody is called by a value, and it cannot leave its code span', () => {
  assert.equal(withoutMentions('@everyone a@here'), '@\u200beveryone a@\u200bhere')
  assert.equal(
    chatValue('```<!channel> @here & <https://x.y|z>'),
    "`'''&lt;!channel&gt; @\u200bhere &amp; &lt;https://x.y|z&gt;`",
  )
  assert.equal(chatValue(' \n'), '`(empty)`')
  assert.equal(chatValue('a'.repeat(MAX_SHOWN_VALUE + 1)), `\`${'a'.repeat(MAX_SHOWN_VALUE - 1)}…\``)
  fc.assert(
    fc.property(any, text => {
      assert.match(chatValue(text), /^`[^`\n\r<>]+`$/)
      assert.doesNotMatch(chatValue(text), /@(?!\u200b)/)
    }),
    seeded,
  )
})
