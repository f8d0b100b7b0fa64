import * as menu from '@zag-js/menu'
import { mergeProps, normalizeProps, useMachine } from '@zag-js/preact'
import * as tabs from '@zag-js/tabs'
import * as tooltip from '@zag-js/tooltip'
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useQueryState } from '../browser/router.tsx'
import { Icon, type IconName } from './icon.tsx'

interface MenuItem {
  title: string
  /** Title of the items from here on. */
  group?: string
  icon?: IconName
  /** Of a choice between several. */
  checked?: boolean
  /** Whether others stay chosen. */
  isOwn?: boolean
  disabled?: boolean
  run(): unknown
}

interface MenuProps {
  label: ComponentChildren
  /** Accessible name if the label is not enough. */
  name?: string | undefined
  class?: string | undefined
  items: readonly MenuItem[]
}

/** A button with a menu of actions or choices. */
export const Menu = ({ label, name, items, ...rest }: MenuProps) => {
  const service = useMachine(menu.machine, {
    id: useId(),
    // Scrolling boxes do not clip it.
    positioning: { strategy: 'fixed', placement: 'bottom-end', gutter: 4 },
    onSelect: ({ value }) => void items.find(({ title }) => title === value)?.run(),
  })
  const api = menu.connect(service, normalizeProps)
  return (
    <>
      <button {...rest} {...api.getTriggerProps()} aria-label={name}>
        {label}
      </button>
      <div {...api.getPositionerProps()}>
        <div {...api.getContentProps()}>
          {items.map(({ title, group, icon, checked, isOwn, disabled }) => (
            <div key={title}>
              {group !== undefined && <div data-part="item-group-label">{group}</div>}
              <div
                {...(checked === undefined
                  ? api.getItemProps({ value: title, disabled })
                  : api.getOptionItemProps({ type: isOwn ? 'checkbox' : 'radio', value: title, checked, disabled }))}
              >
                {icon && <Icon name={icon} />}
                <span class="what">{title}</span>
                {checked && (
                  <span class="check-mark">
                    <Icon name="check" />
                  </span>
                )}
              </div>
            </div>
          ))}
        </div>
      </div>
    </>
  )
}

export interface Tab {
  name: string
  title: string
  show(): ComponentChildren
}

interface TabsProps {
  label: string
  tabs: readonly Tab[]
  /** Default: the first tab. */
  current: string
  onChange(name: string): void
}

/** Tabs; arrow keys switch between them. */
export const Tabs = ({ label, tabs: all, current, onChange }: TabsProps) => {
  const shown = all.find(({ name }) => name === current) ?? all[0]!
  const service = useMachine(tabs.machine, {
    ...{ id: useId(), value: shown.name, translations: { listLabel: label } },
    onValueChange: ({ value }) => onChange(value),
  })
  const api = tabs.connect(service, normalizeProps)
  return (
    <div class="tabs">
      <div {...api.getListProps()}>
        {all.map(({ name, title }) => (
          <button key={name} {...api.getTriggerProps({ value: name })}>
            {title}
          </button>
        ))}
      </div>
      <div key={shown.name} {...api.getContentProps({ value: shown.name })} hidden={false}>
        {shown.show()}
      </div>
    </div>
  )
}

/** Tabs whose state is in the address. */
export const QueryTabs = ({ label, tabs }: Pick<TabsProps, 'label' | 'tabs'>) => {
  const [tab, setTab] = useQueryState('tab', tabs[0]!.name)
  return <Tabs {...{ label, tabs }} current={tab} onChange={name => setTab(name, { replace: true })} />
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes, 'icon' | 'label'> {
  icon: IconName
  /** Accessible name, which a tooltip shows. */
  label: string
}

export const IconButton = ({ icon, label, class: style = 'quiet', ...rest }: IconButtonProps) => {
  const service = useMachine(tooltip.machine, {
    id: useId(),
    openDelay: 300,
    positioning: { strategy: 'fixed' },
  })
  const api = tooltip.connect(service, normalizeProps)
  return (
    <>
      <button
        {...mergeProps(api.getTriggerProps(), rest as object)}
        type="button"
        class={`icon ${String(style)}`}
        aria-label={label}
      >
        <Icon name={icon} />
      </button>
      {api.open && (
        <div {...api.getPositionerProps()}>
          <div {...api.getContentProps()}>{label}</div>
        </div>
      )}
    </>
  )
}
