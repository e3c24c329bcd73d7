"""Generated code: operators fused into a processing element become one function (paper 002, section 2)."""
