"""jax.jit against the limits; what is right is what the same program gives on JAX's arrays."""

import jax
import jax.numpy as jnp
from limits import branch, size, table

if __name__ == "__main__":
    table({"jax.jit": lambda f, x: jax.jit(f)}, array=jnp.array)
    print(jax.make_jaxpr(size)(jnp.array([1.0, 2.0])))
    try:
        jax.jit(branch)(jnp.array([1.0, 2.0]))
    except jax.errors.TracerBoolConversionError as error:
        print(str(error).splitlines()[0])
