import * as combobox from '@zag-js/combobox'
import { mergeProps, normalizeProps, useMachine } from '@zag-js/preact'
import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { Text } from './text.tsx'

export interface Choice {
  value: string
  /** Default: the value. */
  title?: string
  /** What it is or means. */
  kind?: string | undefined
  icon?: IconName | undefined
}

interface ComboboxProps {
  value: string
  choices: readonly Choice[]
  onInput(value: string): void
  /** Default: the choice becomes the text. */
  onChoose?: (value: string) => void
  /** Of the input. */
  input: InputHTMLAttributes
  /** Shown below the suggestions. */
  children?: ComponentChildren
}

const { implementations, ...rest } = combobox.machine as combobox.Machine<Choice>
/** The machine would write its text into the input a moment late, over what was typed meanwhile. */
const machine = {
  ...rest,
  implementations: { ...implementations, actions: { ...implementations?.actions, syncInputValue: () => {} } },
}

/** A text input with suggestions. */
export const Combobox = ({ value, choices, onInput, onChoose, input, children }: ComboboxProps) => {
  const collection = useMemo(
    () => combobox.collection({ items: [...choices], itemToString: it => (onChoose ? value : it.value) }),
    [choices, value],
  )
  const service = useMachine(machine, {
    ...{ id: useId(), ids: { input: input.id as string | undefined }, collection, inputValue: value, value: [] },
    allowCustomValue: true,
    openOnClick: true,
    // Typing opens it below, as the machine misses a focus that came before it ran.
    openOnChange: false,
    // A layer that goes would close the one that was opened meanwhile.
    disableLayer: true,
    selectionBehavior: onChoose ? 'preserve' : 'replace',
    positioning: { strategy: 'fixed', sameWidth: true, gutter: 4 },
    onSelect: ({ itemValue }) => (onChoose ?? onInput)(itemValue!),
  })
  const api = combobox.connect(service, normalizeProps)
  const own = {
    value,
    defaultValue: undefined,
    // The machine tells of typing later than the browser does.
    onInput: (event: InputEvent) => {
      onInput((event.currentTarget as HTMLInputElement).value)
      service.send({ type: 'OPEN' })
    },
    onfocusout: () => service.send({ type: 'LAYER.INTERACT_OUTSIDE', restoreFocus: false }),
  }
  const content = { ...api.getContentProps(), 'aria-label': 'Suggestions', 'aria-labelledby': undefined }
  return (
    <div {...api.getRootProps()}>
      <div {...api.getControlProps()}>
        <input {...mergeProps(api.getInputProps(), input as object, own)} />
      </div>
      <div {...api.getPositionerProps()}>
        <div {...content} hidden={!api.open || choices.length === 0}>
          {api.open &&
            choices.map(item => (
              <div key={item.value} {...api.getItemProps({ item })}>
                {item.icon && <Icon name={item.icon} />}
                <span class="what">
                  <Text value={item.title ?? item.value} most={80} brief />
                </span>
                {item.kind !== undefined && (
                  <span class="kind">
                    <Text value={item.kind} most={100} brief />
                  </span>
                )}
              </div>
            ))}
          {children}
        </div>
      </div>
    </div>
  )
}
