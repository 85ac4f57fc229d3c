/** Pages of the area of orders. */
import { OrderPage } from "./OrderPage.tsx"
import { OrdersPage } from "./OrdersPage.tsx"

interface IdProps {
  readonly id: string
}

export const SubscriptionsPage = () => <OrdersPage kind="subscription" />
export const RedemptionsPage = () => <OrdersPage kind="redemption" />
export const SubscriptionPage = ({ id }: IdProps) => <OrderPage kind="subscription" id={id} />
export const RedemptionPage = ({ id }: IdProps) => <OrderPage kind="redemption" id={id} />
